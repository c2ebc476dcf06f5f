// SPDX-License-Identifier: Apache-2.0
#include "workers/device/host_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "timing/steady/steady_time.h"
#include "workers/device/emulated/tensor_map.h"
#include "workers/device/host_cluster.h"
#include "workers/device/host_kernel.h"
#include "workers/device/memory_map.h"
#include "workers/device/stack_pool.h"

namespace tritond::workers {
namespace {

constexpr size_t kStackBytes = 512 << 10;
constexpr char kHostTarget[] = "host";
constexpr int kMaxThreads = 1024;
constexpr uint64_t kMaxSharedBytes = 256 << 10;
// Around each buffer, so that what runs out of one does not run into the next.
constexpr uint64_t kGapBytes = 1 << 20;

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "model name")) continue;
    return std::string(absl::StripAsciiWhitespace(rest.substr(rest.find(':') + 1)));
  }
  return "unknown processor";
}

void PrintToStandardOutput(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

class HostDevice final : public Device {
 public:
  HostDevice(std::string name, std::string target, DeviceOptions options)
      : name_(std::move(name)), target_(std::move(target)), options_(std::move(options)), stacks_(kStackBytes) {
    if (!options_.print) options_.print = PrintToStandardOutput;
  }
  ~HostDevice() override {
    while (!buffers_.empty()) Free(buffers_.begin()->first);
  }

  std::string Name() const override { return name_; }
  std::string Target() const override { return target_; }
  std::string Model() const override { return ProcessorName(); }
  std::string Driver() const override { return absl::StrCat("host ABI ", TRITOND_HOST_ABI_VERSION); }

  absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) override;
  absl::StatusOr<Buffer> Allocate(uint64_t bytes) override;
  absl::Status CopyIn(const Buffer& buffer, uint64_t offset, absl::Span<const char> bytes) override;
  absl::Status CopyOut(const Buffer& buffer, uint64_t offset, absl::Span<char> bytes) override;
  absl::StatusOr<Argument> MapTensor(const MappedTensor& tensor) override;
  absl::Status Launch(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments) override;
  absl::StatusOr<std::vector<absl::Duration>> Time(const Kernel& kernel, const Grid& grid,
                                                   absl::Span<const Argument> arguments,
                                                   const TimingOptions& options) override;

 private:
  void Free(uint64_t address) override;
  MemoryMap MapMemory(const HostKernel& kernel, absl::Span<const Argument> arguments, const Buffer& global,
                      const Buffer& profile) const;
  void Run(HostLaunch& launch);

  const std::string name_, target_;
  DeviceOptions options_;
  StackPool stacks_;
  std::map<uint64_t, uint64_t> buffers_;  // address -> bytes
};

absl::StatusOr<std::unique_ptr<Kernel>> HostDevice::Load(absl::string_view binary, const KernelInfo& info) {
  const uint64_t threads = uint64_t{info.num_warps} * info.warp_size;
  if (threads == 0 || threads > kMaxThreads || info.num_warps > 64) {
    return absl::InvalidArgumentError(absl::StrCat(info.name, ": ", info.num_warps, " warps of ", info.warp_size,
                                                   " threads; a program has at most 64 warps and ", kMaxThreads,
                                                   " threads"));
  }
  if (info.shared > kMaxSharedBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(info.name, ": ", info.shared, " bytes of shared memory; there are ", kMaxSharedBytes));
  }
  return HostKernel::Load(binary, info, this);
}

absl::StatusOr<Buffer> HostDevice::Allocate(uint64_t bytes) {
  const uint64_t page = sysconf(_SC_PAGESIZE);
  if (bytes > uint64_t{1} << 46) return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes"));
  const uint64_t rounded = (bytes + page - 1) / page * page;
  void* reserved =
      mmap(nullptr, rounded + 2 * kGapBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes: ", std::strerror(errno)));
  }
  char* memory = static_cast<char*>(reserved) + kGapBytes;
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  buffers_[address] = bytes;
  Buffer buffer(this, address, bytes);
  if (rounded > 0 && mprotect(memory, rounded, PROT_READ | PROT_WRITE) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes: ", std::strerror(errno)));
  }
  return buffer;
}

void HostDevice::Free(uint64_t address) {
  const auto it = buffers_.find(address);
  const uint64_t page = sysconf(_SC_PAGESIZE);
  munmap(reinterpret_cast<char*>(address) - kGapBytes, (it->second + page - 1) / page * page + 2 * kGapBytes);
  buffers_.erase(it);
}

absl::Status HostDevice::CopyIn(const Buffer& buffer, uint64_t offset, absl::Span<const char> bytes) {
  if (absl::Status status = CheckCopy(buffer, offset, bytes.size()); !status.ok()) return status;
  if (!bytes.empty()) std::memcpy(reinterpret_cast<char*>(buffer.address()) + offset, bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::Status HostDevice::CopyOut(const Buffer& buffer, uint64_t offset, absl::Span<char> bytes) {
  if (absl::Status status = CheckCopy(buffer, offset, bytes.size()); !status.ok()) return status;
  if (!bytes.empty()) std::memcpy(bytes.data(), reinterpret_cast<const char*>(buffer.address()) + offset, bytes.size());
  return absl::OkStatus();
}

MemoryMap HostDevice::MapMemory(const HostKernel& kernel, absl::Span<const Argument> arguments, const Buffer& global,
                                const Buffer& profile) const {
  std::vector<MemoryRange> ranges = kernel.constants();
  for (const auto& [address, bytes] : buffers_) {
    MemoryRange range{address, address + bytes, absl::StrCat("a buffer at 0x", absl::Hex(address))};
    if (address == global.address()) range.name = "the global scratch memory";
    if (address == profile.address()) range.name = "the profile scratch memory";
    for (size_t i = arguments.size(); i-- > 0;) {
      uint64_t value = 0;
      if (arguments[i].size() == sizeof(value)) std::memcpy(&value, arguments[i].data(), sizeof(value));
      if (value >= range.begin && value <= range.end) range.name = absl::StrCat("the buffer of argument ", i);
    }
    ranges.push_back(std::move(range));
  }
  return MemoryMap(std::move(ranges));
}

absl::StatusOr<Argument> HostDevice::MapTensor(const MappedTensor& tensor) {
  if (target_ == kHostTarget) return Device::MapTensor(tensor);
  const size_t rank = tensor.shape.size();
  if (rank == 0 || rank > emulated::kMaxRank || tensor.strides.size() != rank || tensor.box.size() != rank)
    return absl::InvalidArgumentError("a tensor map of no such tensor");
  emulated::TensorMap map = {};
  map.address = tensor.address;
  map.rank_minus_one = static_cast<uint32_t>(rank) - 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t from = rank - 1 - i;
    map.dims[i] = static_cast<uint32_t>(tensor.shape[from]);
    map.box[i] = static_cast<uint32_t>(tensor.box[from]);
    map.element_strides[i] = 1;
    if (i > 0) map.strides[i - 1] = tensor.strides[from] * tensor.element_bytes;
  }
  map.element_type = tensor.element_type;
  map.swizzle = tensor.swizzle;
  map.fill = tensor.has_nans ? 1 : 0;
  unsigned char bytes[emulated::kMapBytes] = {};
  std::memcpy(bytes, &map, sizeof(map));
  return Argument::TensorMap(bytes);
}

absl::Status HostDevice::Launch(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments) {
  const auto* host_kernel = dynamic_cast<const HostKernel*>(&kernel);
  if (host_kernel == nullptr || host_kernel->device() != this) {
    return absl::InvalidArgumentError(absl::StrCat(kernel.info().name, " was loaded on another device"));
  }
  const KernelInfo& info = kernel.info();
  if (absl::Status status = CheckLaunch(info, grid, arguments); !status.ok()) return status;
  Buffer scratch[2];
  const uint64_t scratch_bytes[2] = {info.global_scratch_size, info.profile_scratch_size};
  for (int i = 0; i < 2; ++i) {
    if (scratch_bytes[i] == 0) continue;
    auto buffer = Allocate(scratch_bytes[i] * grid.Programs() * info.num_ctas);
    if (!buffer.ok()) return buffer.status();
    scratch[i] = *std::move(buffer);
  }
  std::vector<Argument> all(arguments.begin(), arguments.end());
  if (info.has_global_scratch) all.push_back(Argument::Pointer(scratch[0]));
  if (info.has_profile_scratch) all.push_back(Argument::Pointer(scratch[1]));
  std::vector<void*> parameters;
  for (Argument& argument : all) parameters.push_back(const_cast<void*>(argument.data()));
  // What is passed by value is memory of the kernel's.
  std::vector<Buffer> values;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() <= static_cast<int>(sizeof(uint64_t))) continue;
    auto buffer = Allocate(all[i].size());
    if (!buffer.ok()) return buffer.status();
    parameters[i] = reinterpret_cast<void*>(buffer->address());
    std::memcpy(parameters[i], all[i].data(), all[i].size());
    values.push_back(*std::move(buffer));
  }
  const MemoryMap memory = MapMemory(*host_kernel, arguments, scratch[0], scratch[1]);

  HostLaunch launch;
  launch.entry = host_kernel->entry();
  launch.parameters = parameters.data();
  launch.grid = grid;
  launch.blocks = static_cast<int>(info.num_ctas);
  launch.threads = static_cast<int>(info.num_warps * info.warp_size);
  launch.warp_size = static_cast<int>(info.warp_size);
  launch.shared_bytes = info.shared;
  launch.is_emulated = target_ != kHostTarget;
  launch.reads_whole_words = absl::StartsWith(target_, "emulated:cuda");
  launch.check_uninitialized = options_.check_uninitialized;
  launch.copies_need_fences = options_.copies_need_fences;
  launch.deadline = timing::SteadyNow() + options_.launch_limit;
  launch.memory = &memory;
  launch.print = &options_.print;
  Run(launch);
  absl::MutexLock lock(&launch.mu);
  return launch.status;
}

void HostDevice::Run(HostLaunch& launch) {
  const auto run = [&] { HostCluster(launch, stacks_).RunAll(); };
  std::vector<std::thread> others;
  const uint64_t threads = std::min<uint64_t>(std::max(options_.threads, 1), launch.grid.Programs());
  for (uint64_t i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

absl::StatusOr<std::vector<absl::Duration>> HostDevice::Time(const Kernel& kernel, const Grid& grid,
                                                             absl::Span<const Argument> arguments,
                                                             const TimingOptions& options) {
  std::vector<absl::Duration> samples;
  for (int i = 0; i < options.warmup + options.samples; ++i) {
    const absl::Time start = timing::SteadyNow();
    if (absl::Status status = Launch(kernel, grid, arguments); !status.ok()) return status;
    if (i >= options.warmup) samples.push_back(timing::SteadyNow() - start);
  }
  return samples;
}

}  // namespace

std::unique_ptr<Device> NewHostDevice(const DeviceOptions& options) {
  return std::make_unique<HostDevice>("host:0", kHostTarget, options);
}

std::unique_ptr<Device> NewEmulatedDevice(absl::string_view target, const DeviceOptions& options) {
  return std::make_unique<HostDevice>(std::string(target), std::string(target), options);
}

}  // namespace tritond::workers
