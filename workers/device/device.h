// SPDX-License-Identifier: Apache-2.0
// A device: what runs compiled kernels, behind one interface. DeviceNames and OpenDevice (devices.h) give them out.
#ifndef WORKERS_DEVICE_DEVICE_H_
#define WORKERS_DEVICE_DEVICE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "workers/device/kernel_info.h"
#include "workers/device/mapped_tensor.h"

namespace tritond::workers {

// A device as its buffers know it: it takes back what it has lent.
class MemoryOwner {
 public:
  virtual void Free(uint64_t address) = 0;
  virtual void Unpin(const char* bytes) {}

 protected:
  ~MemoryOwner() = default;
};

// The programs of a launch, in three axes. Every size is at least 1.
struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  uint64_t Programs() const { return uint64_t{x} * y * z; }
};

// Memory of a device, freed when this dies; not initialised. The device, `owner`, must outlive it.
class Buffer final {
 public:
  Buffer() = default;  // none: address 0, size 0
  Buffer(MemoryOwner* owner, uint64_t address, uint64_t size) : owner_(owner), address_(address), size_(size) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  uint64_t address() const { return address_; }  // on the device, aligned to 256
  uint64_t size() const { return size_; }        // bytes, as asked for

 private:
  MemoryOwner* owner_ = nullptr;
  uint64_t address_ = 0;
  uint64_t size_ = 0;
};

// Bytes of this machine that a device, `owner`, copies faster while this lives. The device must outlive it.
class PinnedBytes final {
 public:
  PinnedBytes() = default;  // none
  PinnedBytes(MemoryOwner* owner, const char* bytes) : owner_(owner), bytes_(bytes) {}
  PinnedBytes(PinnedBytes&& other) noexcept { *this = std::move(other); }
  PinnedBytes& operator=(PinnedBytes&& other) noexcept;
  ~PinnedBytes();

 private:
  MemoryOwner* owner_ = nullptr;
  const char* bytes_ = nullptr;
};

// The value of one kernel parameter, as it lies in memory: a pointer, a scalar of at most 8 bytes, or a tensor map.
class Argument final {
 public:
  // A pointer `offset` bytes into the buffer, which must outlive the launch.
  static Argument Pointer(const Buffer& buffer, int64_t offset = 0) {
    Argument argument = Scalar(buffer.address() + offset);
    argument.is_pointer_ = true;
    return argument;
  }
  static Argument NullPointer() { return Pointer(Buffer()); }
  // The bytes of `value`: int32_t for i32, float for f32, uint16_t with the bits of an f16 or bf16, uint8_t for i1 …
  template <typename T>
  static Argument Scalar(T value) {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "a kernel parameter has at most 8 bytes");
    Argument argument;
    std::memcpy(argument.bytes_, &value, sizeof(T));
    argument.size_ = sizeof(T);
    return argument;
  }

  // Of Device::MapTensor.
  static constexpr int kMapBytes = 128;
  static Argument TensorMap(absl::Span<const unsigned char> map) {
    Argument argument;
    argument.size_ = static_cast<int>(std::min<size_t>(map.size(), kMapBytes));
    std::memcpy(argument.bytes_, map.data(), argument.size_);
    return argument;
  }

  const void* data() const { return bytes_; }
  int size() const { return size_; }
  bool is_pointer() const { return is_pointer_; }
  // The address that a pointer holds.
  void* address() const {
    void* address;
    std::memcpy(&address, bytes_, sizeof(address));
    return address;
  }

 private:
  alignas(64) unsigned char bytes_[kMapBytes] = {};
  int size_ = 0;
  bool is_pointer_ = false;
};

// A loaded kernel. Its device must outlive it.
class Kernel {
 public:
  explicit Kernel(KernelInfo info) : info_(std::move(info)) {}
  virtual ~Kernel() = default;

  const KernelInfo& info() const { return info_; }

 private:
  KernelInfo info_;
};

struct TimingOptions {
  int warmup = 10;        // launches that do not count
  int samples = 50;       // launches that do
  bool flush_l2 = false;  // overwrite the device's last cache before each, where it has one of its own
};

// What a device offers; 0: it does not say.
struct DeviceFacts {
  uint64_t memory_bytes = 0;
  uint32_t clock_mhz = 0;  // at most
  uint32_t memory_clock_mhz = 0;
  uint32_t threads_per_program = 0;
  uint32_t programs_per_cluster = 0;
  uint64_t shared_bytes_per_program = 0;
  uint32_t registers_per_thread = 0;
  // Of one multiprocessor, which several programs share.
  uint32_t threads = 0;
  uint32_t programs = 0;
  uint64_t shared_bytes = 0;
  uint64_t registers = 0;
};

// How a device is at a moment; 0: it does not say.
struct DeviceState {
  uint32_t clock_mhz = 0;
  uint32_t memory_clock_mhz = 0;
  uint32_t temperature_celsius = 0;
  uint32_t power_watts = 0;
};

// What a device says of a loaded kernel; 0: nothing.
struct KernelFacts {
  uint32_t registers = 0;         // a thread's
  uint32_t spill_bytes = 0;       // a thread's, with its arrays
  uint64_t shared_bytes = 0;      // a program's
  uint32_t programs_at_once = 0;  // on one multiprocessor
};

// One device. Used by one thread at a time. Statuses mean the same on every device:
//   InvalidArgument     the kernel, its metadata or its arguments are wrong
//   ResourceExhausted   the device has not enough memory, shared memory or registers
//   FailedPrecondition  this machine cannot run such code; the message says why
//   Aborted             the kernel stopped itself: a failed assertion
//   DeadlineExceeded    the launch ran longer than DeviceOptions allow
//   Internal            anything else that the driver reports
// After a failed launch the contents of buffers are undefined; the host device is as good as before, others may need
// to be opened again.
class Device : protected MemoryOwner {
 public:
  virtual ~Device() = default;

  virtual std::string Name() const = 0;    // "cuda:0"
  virtual std::string Target() const = 0;  // what to compile for: "cuda:90"
  virtual std::string Model() const = 0;   // "NVIDIA H200"
  virtual std::string Driver() const = 0;  // its version, as text
  virtual DeviceFacts Facts() const { return {}; }
  virtual DeviceState State() const { return {}; }
  // Of a kernel of this device.
  virtual KernelFacts FactsOf(const Kernel& kernel) const { return {}; }

  // Loads `binary` (a cubin, a shared object …) with what its compile said about it.
  virtual absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) = 0;

  virtual absl::StatusOr<Buffer> Allocate(uint64_t bytes) = 0;
  // Copies bytes to and from `offset` of the buffer. InvalidArgument when they do not lie inside.
  virtual absl::Status CopyIn(const Buffer& buffer, uint64_t offset, absl::Span<const char> bytes) = 0;
  virtual absl::Status CopyOut(const Buffer& buffer, uint64_t offset, absl::Span<char> bytes) = 0;
  // A hint: these bytes will be copied several times. They must outlive what it gives, and stay where they are.
  virtual PinnedBytes Pin(absl::Span<const char> bytes) { return {}; }

  // What a kernel takes for a descriptor for which its metadata has such an entry. InvalidArgument: the device has no
  // maps of such tensors. Unimplemented: none at all.
  virtual absl::StatusOr<Argument> MapTensor(const MappedTensor& tensor) {
    return absl::UnimplementedError(absl::StrCat(Name(), " has no tensor maps"));
  }

  // Runs the kernel once for each program of the grid and waits for the end. `arguments` are the kernel's own
  // parameters in order; the scratch pointers that its ABI adds are allocated and passed by the device.
  virtual absl::Status Launch(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments) = 0;
  // The device's time of each counted launch.
  virtual absl::StatusOr<std::vector<absl::Duration>> Time(const Kernel& kernel, const Grid& grid,
                                                           absl::Span<const Argument> arguments,
                                                           const TimingOptions& options) = 0;
};

// InvalidArgument when `arguments` are not what the kernel's metadata says it takes, or the grid is empty.
absl::Status CheckLaunch(const KernelInfo& info, const Grid& grid, absl::Span<const Argument> arguments);
// InvalidArgument when `bytes` bytes from `offset` do not lie in the buffer.
absl::Status CheckCopy(const Buffer& buffer, uint64_t offset, uint64_t bytes);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_DEVICE_H_
