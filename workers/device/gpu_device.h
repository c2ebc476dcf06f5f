// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_GPU_DEVICE_H_
#define WORKERS_DEVICE_GPU_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "workers/device/device.h"

namespace tritond::workers {

// Copies of pageable memory go through a small buffer of the driver's, at a fraction of the bus's speed. Below this
// size, pinning costs more than it saves.
inline constexpr size_t kLeastPinnedBytes = size_t{1} << 20;

// A kernel that a GPU's driver has loaded.
class GpuKernel : public Kernel {
 public:
  GpuKernel(KernelInfo info, const Device* device) : Kernel(std::move(info)), device_(device) {}

  const Device* device() const { return device_; }

 private:
  const Device* const device_;
};

// Where the arguments' values lie, for drivers that read them from there. `arguments` must outlive the call to the
// driver.
std::vector<void*> PointersTo(absl::Span<const Argument> arguments);

// What the GPUs of all vendors share: checks, the scratch memory that a launch's ABI adds, and the order of fills and
// timed launches. A vendor's device gives the calls of its driver, which all run in the order in which they come.
class GpuDevice : public Device {
 public:
  absl::StatusOr<Buffer> Allocate(uint64_t bytes) final;
  absl::Status CopyIn(const Buffer& buffer, uint64_t offset, absl::Span<const char> bytes) final;
  absl::Status CopyOut(const Buffer& buffer, uint64_t offset, absl::Span<char> bytes) final;
  absl::Status Launch(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments) final;
  absl::StatusOr<std::vector<absl::Duration>> Time(const Kernel& kernel, const Grid& grid,
                                                   absl::Span<const Argument> arguments,
                                                   const TimingOptions& options) final;

 protected:
  // Before the others: the calling thread may be another one than before.
  virtual absl::Status Enter() const { return absl::OkStatus(); }
  // At least one byte, aligned to 256.
  virtual absl::StatusOr<uint64_t> AllocateBytes(uint64_t bytes) = 0;
  // At least one byte. Both wait for the end.
  virtual absl::Status CopyToDevice(uint64_t to, absl::Span<const char> from) = 0;
  virtual absl::Status CopyFromDevice(absl::Span<char> to, uint64_t from) = 0;
  // Need not wait.
  virtual absl::Status Fill(uint64_t to, unsigned char value, uint64_t bytes) = 0;
  // Of the last cache; 0: the driver does not say.
  virtual uint64_t CacheBytes() const = 0;
  // Runs blocks of the kernel and waits for the end. `arguments` are all, scratch included. With `time`, it is set to
  // the device's time of the kernel alone.
  virtual absl::Status Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                           absl::Duration* time) = 0;

  // ResourceExhausted when a program of the kernel needs more shared memory than `most` bytes. `declared` are those
  // that its binary asks for beside KernelInfo::shared.
  absl::Status CheckShared(const KernelInfo& info, uint64_t declared, uint64_t most) const;

 private:
  // What a launch passes, with the scratch memory that its ABI adds.
  struct Prepared {
    const GpuKernel* kernel = nullptr;
    Grid blocks;
    std::vector<Argument> arguments;
    Buffer scratch[2];
  };
  absl::StatusOr<Prepared> Prepare(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments);
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_GPU_DEVICE_H_
