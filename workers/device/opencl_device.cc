// SPDX-License-Identifier: Apache-2.0
#include "workers/device/opencl_device.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "workers/device/gpu_device.h"
#include "workers/device/intel_architecture.h"
#include "workers/device/opencl_driver.h"

namespace tritond::workers {
namespace {

constexpr uint64_t kAlignment = 256;

class OpenClDevice;

class OpenClKernel final : public GpuKernel {
 public:
  OpenClKernel(KernelInfo info, const OpenClDevice* device, ClProgram program, ClKernel kernel);
  ~OpenClKernel() override;

  ClKernel handle() const { return kernel_; }

 private:
  const OpenClDevice* const owner_;
  const ClProgram program_;
  const ClKernel kernel_;
};

// A device, and the platform that has it.
struct Found {
  ClPlatform platform;
  ClDeviceId device;
};

// Empty where the device does not say.
std::string TextOf(const OpenClDriver& driver, ClDeviceId device, uint32_t name) {
  size_t bytes = 0;
  if (driver.device_info(device, name, 0, nullptr, &bytes) != 0) return "";
  std::string text(bytes, '\0');
  if (driver.device_info(device, name, bytes, text.data(), nullptr) != 0) return "";
  return text.c_str();
}

// 0 where the device does not say.
template <typename T>
T NumberOf(const OpenClDriver& driver, ClDeviceId device, uint32_t name) {
  T value = 0;
  return driver.device_info(device, name, sizeof(value), &value, nullptr) == 0 ? value : T{0};
}

bool HasSubgroupsOf(size_t lanes, const OpenClDriver& driver, ClDeviceId device) {
  size_t bytes = 0;
  if (driver.device_info(device, OpenClDriver::kSubgroupSizes, 0, nullptr, &bytes) != 0) return false;
  std::vector<size_t> sizes(bytes / sizeof(size_t));
  return driver.device_info(device, OpenClDriver::kSubgroupSizes, bytes, sizes.data(), nullptr) == 0 &&
         absl::c_linear_search(sizes, lanes);
}

// Everything goes through one queue, in order.
class OpenClDevice final : public GpuDevice {
 public:
  OpenClDevice(std::unique_ptr<OpenClDriver> driver, int index, ClDeviceId id)
      : driver_(std::move(driver)), index_(index), id_(id) {}
  ~OpenClDevice() override;

  absl::Status Start();

  std::string Name() const override { return absl::StrCat("cl:", index_); }
  std::string Target() const override;
  std::string Model() const override { return TextOf(*driver_, id_, OpenClDriver::kName); }
  std::string Driver() const override { return TextOf(*driver_, id_, OpenClDriver::kDriverVersion); }
  DeviceFacts Facts() const override;
  KernelFacts FactsOf(const Kernel& kernel) const override;

  absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) override;

  void Unload(ClProgram program, ClKernel kernel) const {
    if (kernel != nullptr) driver_->kernel_release(kernel);
    driver_->program_release(program);
  }

 private:
  void Free(uint64_t address) override;
  absl::StatusOr<uint64_t> AllocateBytes(uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t to, absl::Span<const char> from) override;
  absl::Status CopyFromDevice(absl::Span<char> to, uint64_t from) override;
  absl::Status Fill(uint64_t to, unsigned char value, uint64_t bytes) override;
  uint64_t CacheBytes() const override { return Number<uint64_t>(OpenClDriver::kCacheBytes); }
  absl::Status Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                   absl::Duration* time) override;

  template <typename T>
  T Number(uint32_t name) const {
    return NumberOf<T>(*driver_, id_, name);
  }
  absl::StatusOr<ClProgram> Build(absl::string_view binary, const KernelInfo& info) const;
  absl::Status SetArguments(const OpenClKernel& kernel, absl::Span<const Argument> arguments) const;
  absl::StatusOr<absl::Duration> TimeOf(ClEvent event) const;

  const std::unique_ptr<OpenClDriver> driver_;
  const int index_;
  const ClDeviceId id_;
  ClContext context_ = nullptr;
  ClQueue queue_ = nullptr;
  std::map<uint64_t, void*> allocations_;  // by the aligned address within
};

OpenClKernel::OpenClKernel(KernelInfo info, const OpenClDevice* device, ClProgram program, ClKernel kernel)
    : GpuKernel(std::move(info), device), owner_(device), program_(program), kernel_(kernel) {}

OpenClKernel::~OpenClKernel() { owner_->Unload(program_, kernel_); }

OpenClDevice::~OpenClDevice() {
  if (queue_ != nullptr) driver_->queue_release(queue_);
  if (context_ != nullptr) driver_->context_release(context_);
}

absl::Status OpenClDevice::Start() {
  ClResult result = 0;
  context_ = driver_->context_create(nullptr, 1, &id_, nullptr, nullptr, &result);
  if (result != 0) return driver_->Check(result, absl::StrCat(Name(), ": create a context"));
  const uint64_t properties[] = {OpenClDriver::kQueueProperties, OpenClDriver::kProfiling, 0};
  queue_ = driver_->queue_create(context_, id_, properties, &result);
  return driver_->Check(result, absl::StrCat(Name(), ": create a queue"));
}

// A processor, say, runs code that takes no matrix unit and nothing else of a GPU's: sub-groups of 32 have none.
std::string OpenClDevice::Target() const {
  const bool is_gpu = (Number<uint64_t>(OpenClDriver::kTypes) & OpenClDriver::kGpu) != 0;
  if (is_gpu) return TargetOfIntelDevice(Number<uint32_t>(OpenClDriver::kPciDeviceId));
  const bool has_f64 = Number<uint64_t>(OpenClDriver::kF64) != 0;
  return has_f64 && HasSubgroupsOf(32, *driver_, id_) ? "xpu:pvc:32" : TargetOfIntelDevice(0);
}

DeviceFacts OpenClDevice::Facts() const {
  DeviceFacts facts;
  facts.memory_bytes = Number<uint64_t>(OpenClDriver::kMemoryBytes);
  facts.clock_mhz = Number<uint32_t>(OpenClDriver::kClockMhz);
  facts.threads_per_program = static_cast<uint32_t>(Number<size_t>(OpenClDriver::kMaxGroupSize));
  facts.programs_per_cluster = 1;
  facts.shared_bytes_per_program = Number<uint64_t>(OpenClDriver::kLocalBytes);
  return facts;
}

KernelFacts OpenClDevice::FactsOf(const Kernel& kernel) const {
  const auto* loaded = dynamic_cast<const OpenClKernel*>(&kernel);
  KernelFacts facts;
  if (loaded == nullptr) return facts;
  const auto number = [&](uint32_t name) {
    uint64_t value = 0;
    return driver_->kernel_group_info(loaded->handle(), id_, name, sizeof(value), &value, nullptr) == 0 ? value : 0;
  };
  const KernelInfo& info = kernel.info();
  facts.spill_bytes = static_cast<uint32_t>(number(OpenClDriver::kKernelSpillBytes) / info.warp_size);  // a sub-group's
  facts.shared_bytes = info.shared + number(OpenClDriver::kKernelLocalBytes);
  return facts;
}

absl::StatusOr<ClProgram> OpenClDevice::Build(absl::string_view binary, const KernelInfo& info) const {
  const std::string what = absl::StrCat("load ", info.name, " for ", Model());
  ClResult result = 0;
  ClProgram program;
  if (IsSpirv(binary)) {
    program = driver_->program_of_il(context_, binary.data(), binary.size(), &result);
  } else {
    const size_t bytes = binary.size();
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    program = driver_->program_of_binary(context_, 1, &id_, &bytes, &data, nullptr, &result);
  }
  if (result != 0) return driver_->Check(result, what);
  result = driver_->program_build(program, 1, &id_, "", nullptr, nullptr);
  if (result == 0) return program;
  absl::Status failed = driver_->Check(result, what);
  size_t bytes = 0;
  if (driver_->program_build_info(program, id_, OpenClDriver::kBuildLog, 0, nullptr, &bytes) == 0 && bytes > 1) {
    std::string log(bytes, '\0');
    if (driver_->program_build_info(program, id_, OpenClDriver::kBuildLog, bytes, log.data(), nullptr) == 0)
      failed = absl::Status(failed.code(), absl::StrCat(failed.message(), " ", log.c_str()));
  }
  driver_->program_release(program);
  return failed;
}

absl::StatusOr<std::unique_ptr<Kernel>> OpenClDevice::Load(absl::string_view binary, const KernelInfo& info) {
  if (binary.empty()) return absl::InvalidArgumentError("an empty binary");
  const absl::Status fits = CheckShared(info, 0, Number<uint64_t>(OpenClDriver::kLocalBytes));
  if (!fits.ok()) return fits;
  const absl::StatusOr<ClProgram> program = Build(binary, info);
  if (!program.ok()) return program.status();
  ClResult result = 0;
  ClKernel kernel = driver_->kernel_create(*program, info.name.c_str(), &result);
  if (result != 0) {
    Unload(*program, nullptr);
    return driver_->Check(result, absl::StrCat("find kernel \"", info.name, "\""));
  }
  return std::make_unique<OpenClKernel>(info, this, *program, kernel);
}

// The alignment that may be asked for ends at 128, the size of OpenCL's largest type.
absl::StatusOr<uint64_t> OpenClDevice::AllocateBytes(uint64_t bytes) {
  ClResult result = 0;
  void* pointer = driver_->memory_allocate(context_, id_, nullptr, bytes + kAlignment, 0, &result);
  if (result != 0) return driver_->Check(result, absl::StrCat("allocate ", bytes, " bytes on ", Name()));
  const uint64_t address = (reinterpret_cast<uint64_t>(pointer) + kAlignment - 1) / kAlignment * kAlignment;
  allocations_[address] = pointer;
  return address;
}

void OpenClDevice::Free(uint64_t address) {
  auto found = allocations_.find(address);
  driver_->memory_free(context_, found->second);
  allocations_.erase(found);
}

absl::Status OpenClDevice::CopyToDevice(uint64_t to, absl::Span<const char> from) {
  void* pointer = reinterpret_cast<void*>(to);
  return driver_->Check(driver_->copy(queue_, 1, pointer, from.data(), from.size(), 0, nullptr, nullptr),
                        "copy to the device");
}

absl::Status OpenClDevice::CopyFromDevice(absl::Span<char> to, uint64_t from) {
  const void* pointer = reinterpret_cast<const void*>(from);
  return driver_->Check(driver_->copy(queue_, 1, to.data(), pointer, to.size(), 0, nullptr, nullptr),
                        "copy from the device");
}

absl::Status OpenClDevice::Fill(uint64_t to, unsigned char value, uint64_t bytes) {
  void* pointer = reinterpret_cast<void*>(to);
  return driver_->Check(driver_->fill(queue_, pointer, &value, sizeof(value), bytes, 0, nullptr, nullptr),
                        "fill memory");
}

absl::Status OpenClDevice::SetArguments(const OpenClKernel& kernel, absl::Span<const Argument> arguments) const {
  const KernelInfo& info = kernel.info();
  uint32_t parameters = 0;
  absl::Status status = driver_->Check(
      driver_->kernel_info(kernel.handle(), OpenClDriver::kParameterCount, sizeof(parameters), &parameters, nullptr),
      info.name);
  if (status.ok()) status = CheckParameterCount(info, parameters, arguments);
  uint32_t index = 0;
  for (const Argument& argument : arguments) {
    if (!status.ok()) return status;
    const ClResult result = argument.is_pointer()
                                ? driver_->kernel_pointer(kernel.handle(), index, argument.address())
                                : driver_->kernel_argument(kernel.handle(), index, argument.size(), argument.data());
    status = driver_->Check(result, absl::StrCat(info.name, ": argument ", index++));
  }
  if (status.ok() && info.shared > 0)
    status = driver_->Check(driver_->kernel_argument(kernel.handle(), index, info.shared, nullptr), info.name);
  return status;
}

absl::StatusOr<absl::Duration> OpenClDevice::TimeOf(ClEvent event) const {
  uint64_t started = 0, ended = 0;
  absl::Status status = driver_->Check(
      driver_->event_time(event, OpenClDriver::kStarted, sizeof(started), &started, nullptr), "read an event");
  if (status.ok())
    status = driver_->Check(driver_->event_time(event, OpenClDriver::kEnded, sizeof(ended), &ended, nullptr),
                            "read an event");
  if (!status.ok()) return status;
  return absl::Nanoseconds(static_cast<int64_t>(ended - started));
}

absl::Status OpenClDevice::Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                               absl::Duration* time) {
  const auto& loaded = static_cast<const OpenClKernel&>(kernel);
  const KernelInfo& info = kernel.info();
  if (info.launch_cooperative_grid)
    return absl::FailedPreconditionError(absl::StrCat(info.name, ": OpenCL has no cooperative launches; use ze"));
  if (absl::Status set = SetArguments(loaded, arguments); !set.ok()) return set;
  const size_t local[3] = {size_t{info.num_warps} * info.warp_size, 1, 1};
  const size_t global[3] = {local[0] * blocks.x, blocks.y, blocks.z};
  ClEvent event = nullptr;
  const ClResult started = driver_->launch(queue_, loaded.handle(), 3, nullptr, global, local, 0, nullptr,
                                           time == nullptr ? nullptr : &event);
  if (started != 0) return driver_->Check(started, absl::StrCat("launch ", info.name));
  const ClResult ended = driver_->finish(queue_);
  absl::Status status = driver_->Check(ended, absl::StrCat("run ", info.name));
  // The resources were there when it began: so drivers tell of an invalid access.
  if (ended == kClOutOfResources) status = absl::InternalError(status.message());
  if (event == nullptr) return status;
  if (status.ok()) {
    const absl::StatusOr<absl::Duration> taken = TimeOf(event);
    status = taken.status();
    if (taken.ok()) *time = *taken;
  }
  driver_->event_release(event);
  return status;
}

// What a device lacks for running kernels; empty: nothing.
std::string LackOf(OpenClDriver& driver, const Found& found) {
  if (!absl::StrContains(TextOf(driver, found.device, OpenClDriver::kIlVersion), "SPIR-V")) return "SPIR-V";
  if (!HasSubgroupsOf(16, driver, found.device)) return "sub-groups of 16 (cl_intel_required_subgroup_size)";
  constexpr char kExtension[] = "cl_intel_unified_shared_memory";
  const bool has_memory = absl::StrContains(TextOf(driver, found.device, OpenClDriver::kExtensions), kExtension);
  return has_memory && driver.FindExtension(found.platform) ? "" : kExtension;
}

absl::StatusOr<std::vector<Found>> FindDevices(OpenClDriver& driver) {
  uint32_t platform_count = 0;
  absl::Status status = driver.Check(driver.platform_ids(0, nullptr, &platform_count), "list OpenCL platforms");
  std::vector<ClPlatform> platforms(platform_count);
  if (status.ok() && platform_count > 0)
    status = driver.Check(driver.platform_ids(platform_count, platforms.data(), nullptr), "list OpenCL platforms");
  if (!status.ok()) return status;
  std::vector<Found> found;
  std::vector<std::string> reasons;
  for (const ClPlatform platform : platforms) {
    uint32_t count = 0;
    // A platform without devices has an error for that; others may have some.
    if (driver.device_ids(platform, OpenClDriver::kAllDevices, 0, nullptr, &count) != 0 || count == 0) continue;
    std::vector<ClDeviceId> devices(count);
    if (driver.device_ids(platform, OpenClDriver::kAllDevices, count, devices.data(), nullptr) != 0) continue;
    for (const ClDeviceId device : devices) {
      const std::string lack = LackOf(driver, {platform, device});
      if (lack.empty())
        found.push_back({platform, device});
      else
        reasons.push_back(absl::StrCat(TextOf(driver, device, OpenClDriver::kName), " has no ", lack));
    }
  }
  if (!found.empty()) return found;
  return absl::FailedPreconditionError(
      absl::StrCat("no OpenCL device runs kernels", reasons.empty() ? "" : ": ", absl::StrJoin(reasons, "; ")));
}

}  // namespace

absl::StatusOr<int> CountOpenClDevices(const std::string& library) {
  auto driver = OpenClDriver::Open(library);
  if (!driver.ok()) return driver.status();
  const auto found = FindDevices(**driver);
  if (!found.ok()) return found.status();
  return static_cast<int>(found->size());
}

absl::StatusOr<std::unique_ptr<Device>> OpenOpenClDevice(int index, const std::string& library) {
  auto driver = OpenClDriver::Open(library);
  if (!driver.ok()) return driver.status();
  const auto found = FindDevices(**driver);
  if (!found.ok()) return found.status();
  if (index >= static_cast<int>(found->size()))
    return absl::NotFoundError(
        absl::StrCat("no cl:", index, ": OpenCL has ", found->size(), " devices that run kernels"));
  (*driver)->FindExtension((*found)[index].platform);
  auto device = std::make_unique<OpenClDevice>(*std::move(driver), index, (*found)[index].device);
  if (absl::Status status = device->Start(); !status.ok()) return status;
  return device;
}

}  // namespace tritond::workers
