// SPDX-License-Identifier: Apache-2.0
// A GPU inside the process, for libraries that fake a vendor's driver in tests. It has memory, a clock, the kernels of
// the device contract (tests/support/device_contract.h) and some that fail, and it records what it does. Each library
// has one GPU of its own. It is lost for good, to other processes too, once the file exists that the environment
// variable TRITOND_FAKE_GPU_LOST names.
#ifndef WORKERS_DEVICE_FAKE_GPU_H_
#define WORKERS_DEVICE_FAKE_GPU_H_

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tritond::fake_gpu {

inline constexpr char kLostFile[] = "TRITOND_FAKE_GPU_LOST";
inline constexpr uint64_t kMemoryBytes = 64 << 20;
inline constexpr uint64_t kSharedBytes = 64 << 10;
inline constexpr uint64_t kCacheBytes = 4 << 20;
inline constexpr uint64_t kLaunchNs = 5000;
inline constexpr uint64_t kFillNs = 100000;

enum class Fault { kNone, kIllegalAccess, kLost };

// `parameters`: a letter each, scratch pointers included. p is a pointer, b h i l are integers of 8 to 64 bits, f and d
// are floats of 32 and 64. Shared memory follows for those that use it.
struct KernelEntry {
  const char* name;
  std::string parameters;
  bool uses_shared = false;

  size_t count() const { return parameters.size(); }
  bool is_pointer(size_t index) const { return parameters[index] == 'p'; }
  size_t bytes(size_t index) const {
    switch (parameters[index]) {
      case 'b':
        return 1;
      case 'h':
        return 2;
      case 'i':
      case 'f':
        return 4;
      default:
        return 8;
    }
  }
};

inline const KernelEntry* FindKernel(const std::string& name) {
  static const auto* entries = new std::vector<KernelEntry>{
      {"vector_add", "pppipp"}, {"count_programs", "ppp"},   {"store_scalars", "pbhilfdpp"},
      {"use_scratch", "ppp"},   {"use_shared", "ppp", true}, {"fault", "ppp"},
      {"hang", "ppp"},          {"lose_device", "ppp"}};
  for (const KernelEntry& entry : *entries) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

struct Launch {
  const KernelEntry* kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t threads = 0;
  uint64_t shared_bytes = 0;
  std::vector<uint64_t> arguments;  // with zeros above their size
};

// Whether a module is what tests make of SPIR-V 1.4, or of a native binary.
inline bool IsSpirv(const void* module, size_t bytes) {
  return bytes >= 20 && std::memcmp(module, "\x03\x02\x23\x07\x00\x04\x01\x00", 8) == 0;
}
inline bool IsElf(const void* module, size_t bytes) {
  return bytes >= 4 && std::memcmp(module, "\x7f\x45\x4c\x46", 4) == 0;
}

class Gpu final {
 public:
  // False once it was lost, in this process or another.
  bool IsPresent() const {
    const char* path = std::getenv(kLostFile);
    return path == nullptr || access(path, F_OK) != 0;
  }
  // What every call reports after a fault.
  Fault fault() const { return fault_; }
  uint64_t now_ns() const { return now_ns_; }

  // Null: not enough memory. The address is a multiple of `alignment`, and of no larger power of two.
  void* Allocate(uint64_t bytes, uint64_t alignment) {
    if (bytes > kMemoryBytes - used_) return nullptr;
    const uint64_t units = (alignment + bytes) / (2 * alignment) + 1;
    char* block = static_cast<char*>(std::aligned_alloc(2 * alignment, units * 2 * alignment));
    std::memset(block, 0xA5, alignment + bytes);
    used_ += bytes;
    allocations_[reinterpret_cast<uint64_t>(block) + alignment] = {block, bytes};
    Record("allocate ", bytes);
    return block + alignment;
  }
  bool Free(void* pointer) {
    auto found = allocations_.find(reinterpret_cast<uint64_t>(pointer));
    if (found == allocations_.end()) return false;
    Record("free ", found->second.bytes);
    used_ -= found->second.bytes;
    std::free(found->second.block);
    allocations_.erase(found);
    return true;
  }
  // Allocations that live.
  size_t count() const { return allocations_.size(); }

  // Between the GPU's memory and others.
  Fault Copy(void* to, const void* from, uint64_t bytes) {
    if (fault_ != Fault::kNone) return fault_;
    const bool in = Contains(to, bytes);
    if (!in && !Contains(from, bytes)) return Break(Fault::kIllegalAccess);
    Record(in ? "copy in " : "copy out ", bytes);
    std::memcpy(to, from, bytes);
    return Fault::kNone;
  }
  Fault Fill(void* to, int value, uint64_t bytes) {
    if (fault_ != Fault::kNone) return fault_;
    if (!Contains(to, bytes)) return Break(Fault::kIllegalAccess);
    Record("fill ", bytes);
    now_ns_ += kFillNs;
    std::memset(to, value, bytes);
    return Fault::kNone;
  }
  Fault Run(const Launch& launch) {
    if (fault_ != Fault::kNone) return fault_;
    const std::string name = launch.kernel->name;
    log_ += "run " + name + " " + std::to_string(launch.grid[0]) + "x" + std::to_string(launch.grid[1]) + "x" +
            std::to_string(launch.grid[2]) + " of " + std::to_string(launch.threads) + " threads, shared " +
            std::to_string(launch.shared_bytes) + "\n";
    now_ns_ += kLaunchNs;
    if (name == "hang") pause();
    if (name == "lose_device") {
      if (const char* path = std::getenv(kLostFile)) std::fclose(std::fopen(path, "w"));
      return Break(Fault::kLost);
    }
    const uint32_t programs = launch.grid[0] * launch.grid[1] * launch.grid[2];
    for (uint32_t program = 0; program < programs && fault_ == Fault::kNone; ++program) RunProgram(launch, program);
    return fault_;
  }

  // As in a process that has just begun.
  void Reset() {
    for (auto& [address, allocation] : allocations_) std::free(allocation.block);
    *this = Gpu();
  }

  // What it did since the last call, a line each.
  std::string TakeLog() { return std::exchange(log_, ""); }

 private:
  struct Allocation {
    void* block;
    uint64_t bytes;
  };

  void Record(const char* what, uint64_t bytes) { log_ += what + std::to_string(bytes) + "\n"; }
  Fault Break(Fault fault) { return fault_ = fault; }
  bool Contains(const void* pointer, uint64_t bytes) const {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return false;
    --after;
    return address + bytes <= after->first + after->second.bytes;
  }
  // The element, or one that does not count where there is none.
  template <typename T>
  T& At(uint64_t pointer, int64_t index) {
    static T nowhere;
    T* element = reinterpret_cast<T*>(pointer) + index;
    if (Contains(element, sizeof(T))) return *element;
    Break(Fault::kIllegalAccess);
    return nowhere;
  }
  template <typename T>
  static T As(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  void RunProgram(const Launch& launch, int32_t program) {
    const std::string name = launch.kernel->name;
    const std::vector<uint64_t>& a = launch.arguments;
    const int32_t threads = static_cast<int32_t>(launch.threads);
    if (name == "fault") At<int32_t>(0, 0) = 1;
    if (name == "count_programs") At<int32_t>(a[0], program) += program + 1;
    if (name == "vector_add") {
      for (int32_t i = program * threads; i < (program + 1) * threads && i < As<int32_t>(a[3]); ++i)
        At<float>(a[2], i) = At<float>(a[0], i) + At<float>(a[1], i);
    }
    if (name == "store_scalars") {
      const double values[] = {double(As<int8_t>(a[1])),  double(As<int16_t>(a[2])), double(As<int32_t>(a[3])),
                               double(As<int64_t>(a[4])), double(As<float>(a[5])),   As<double>(a[6])};
      for (int i = 0; i < 6; ++i) At<double>(a[0], i) = values[i];
    }
    if (name == "use_scratch") {
      for (int i = 0; i < 16; ++i) At<int32_t>(a[1], 16 * program + i) = 100 * program + i;
      At<int32_t>(a[0], program) = At<int32_t>(a[1], 16 * program + 15);
    }
    if (name == "use_shared") {
      if (launch.shared_bytes < sizeof(int32_t) * launch.threads) Break(Fault::kIllegalAccess);
      for (int i = 0; i < threads; ++i) At<int32_t>(a[0], threads * program + i) = 100 * program + threads - 1 - i;
    }
  }

  uint64_t used_ = 0;
  uint64_t now_ns_ = 0;
  Fault fault_ = Fault::kNone;
  std::map<uint64_t, Allocation> allocations_;
  std::string log_;
};

// Of this library alone. `objects`: those of the driver that live, allocations apart. `on_reset` puts back what else
// the library keeps; null: nothing.
extern __attribute__((visibility("hidden"))) Gpu gpu;
extern __attribute__((visibility("hidden"))) size_t objects;
extern __attribute__((visibility("hidden"))) void (*on_reset)();

// What waits until something synchronises, as late as it may.
class Stream final {
 public:
  explicit Stream(Gpu& gpu) : gpu_(gpu) {}

  void Add(std::function<void()> work) { waiting_.push_back(std::move(work)); }
  Fault Synchronize() {
    for (const auto& work : std::exchange(waiting_, {})) work();
    return gpu_.fault();
  }

 private:
  Gpu& gpu_;
  std::vector<std::function<void()>> waiting_;
};

// A moment that a stream has reached, or not yet.
struct Event {
  bool is_recorded = false;
  uint64_t ns = 0;
};

// Of a driver that reads each parameter where `parameters` point to.
inline Launch LaunchOf(const void* function, const uint32_t (&grid)[3], uint32_t threads, uint64_t shared_bytes,
                       void* const* parameters) {
  Launch launch{static_cast<const KernelEntry*>(function), {grid[0], grid[1], grid[2]}, threads, shared_bytes, {}};
  for (size_t i = 0; i < launch.kernel->count(); ++i) {
    launch.arguments.push_back(0);
    std::memcpy(&launch.arguments.back(), parameters[i], launch.kernel->bytes(i));
  }
  return launch;
}

}  // namespace tritond::fake_gpu

#endif  // WORKERS_DEVICE_FAKE_GPU_H_
