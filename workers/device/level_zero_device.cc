// SPDX-License-Identifier: Apache-2.0
#include "workers/device/level_zero_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "workers/device/gpu_device.h"
#include "workers/device/intel_architecture.h"
#include "workers/device/level_zero_driver.h"

namespace tritond::workers {
namespace {

class LevelZeroDevice;

class LevelZeroKernel final : public GpuKernel {
 public:
  LevelZeroKernel(KernelInfo info, const LevelZeroDevice* device, ZeModule module, ZeKernel kernel,
                  const ZeKernelProperties& properties);
  ~LevelZeroKernel() override;

  ZeKernel handle() const { return kernel_; }
  const ZeKernelProperties& properties() const { return properties_; }

 private:
  const LevelZeroDevice* const owner_;
  const ZeModule module_;
  const ZeKernel kernel_;
  const ZeKernelProperties properties_;
};

// A GPU, and the driver that has it.
struct Found {
  ZeDriverHandle driver;
  ZeDeviceHandle device;
};

// Everything goes through one synchronous command list: each call returns when its work has ended.
class LevelZeroDevice final : public GpuDevice {
 public:
  LevelZeroDevice(std::unique_ptr<LevelZeroDriver> driver, int index, const Found& found)
      : driver_(std::move(driver)), index_(index), found_(found) {}
  ~LevelZeroDevice() override;

  absl::Status Start();

  std::string Name() const override { return absl::StrCat("ze:", index_); }
  std::string Target() const override { return TargetOfIntelDevice(properties_.device_id); }
  std::string Model() const override { return properties_.name; }
  // "1.3.24595"
  std::string Driver() const override {
    return absl::StrCat(version_ >> 24, ".", version_ >> 16 & 0xff, ".", version_ & 0xffff);
  }
  DeviceFacts Facts() const override;
  KernelFacts FactsOf(const Kernel& kernel) const override;

  absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) override;

  void Unload(ZeModule module, ZeKernel kernel) const {
    if (kernel != nullptr) driver_->kernel_destroy(kernel);
    driver_->module_destroy(module);
  }

 private:
  void Free(uint64_t address) override { driver_->memory_free(context_, reinterpret_cast<void*>(address)); }
  absl::StatusOr<uint64_t> AllocateBytes(uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t to, absl::Span<const char> from) override;
  absl::Status CopyFromDevice(absl::Span<char> to, uint64_t from) override;
  absl::Status Fill(uint64_t to, unsigned char value, uint64_t bytes) override;
  uint64_t CacheBytes() const override;
  absl::Status Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                   absl::Duration* time) override;

  absl::StatusOr<ZeModule> LoadModule(absl::string_view binary, const KernelInfo& info, const char* build_flags) const;
  absl::StatusOr<std::unique_ptr<LevelZeroKernel>> LoadKernel(absl::string_view binary, const KernelInfo& info,
                                                              const char* build_flags);
  absl::Status SetArguments(const LevelZeroKernel& kernel, absl::Span<const Argument> arguments) const;
  absl::Duration TimeBetween(uint64_t start, uint64_t end) const;

  const std::unique_ptr<LevelZeroDriver> driver_;
  const int index_;
  const Found found_;
  ZeContext context_ = nullptr;
  ZeCommandList list_ = nullptr;
  ZeEventPool event_pool_ = nullptr;
  ZeEvent event_ = nullptr;  // of a timed launch
  ZeDeviceProperties properties_ = {};
  ZeComputeProperties compute_ = {};
  uint32_t version_ = 0;
};

LevelZeroKernel::LevelZeroKernel(KernelInfo info, const LevelZeroDevice* device, ZeModule module, ZeKernel kernel,
                                 const ZeKernelProperties& properties)
    : GpuKernel(std::move(info), device), owner_(device), module_(module), kernel_(kernel), properties_(properties) {}

LevelZeroKernel::~LevelZeroKernel() { owner_->Unload(module_, kernel_); }

LevelZeroDevice::~LevelZeroDevice() {
  if (event_ != nullptr) driver_->event_destroy(event_);
  if (event_pool_ != nullptr) driver_->event_pool_destroy(event_pool_);
  if (list_ != nullptr) driver_->list_destroy(list_);
  if (context_ != nullptr) driver_->context_destroy(context_);
}

absl::Status LevelZeroDevice::Start() {
  const LevelZeroDriver& driver = *driver_;
  ZeDeviceHandle device = found_.device;
  ZeDriverProperties driver_properties = {};
  absl::Status status = driver.Check(driver.driver_properties(found_.driver, &driver_properties), Name());
  version_ = driver_properties.version;
  const auto then = [&](const char* what, auto function, auto... arguments) {
    if (status.ok()) status = driver.Check(function(arguments...), absl::StrCat(Name(), ": ", what));
  };
  const ZeContextDesc context_desc;
  const ZeQueueDesc queue_desc;
  const ZeEventPoolDesc pool_desc;
  const ZeEventDesc event_desc;
  then("properties", driver.device_properties, device, &properties_);
  then("compute properties", driver.compute_properties, device, &compute_);
  then("create a context", driver.context_create, found_.driver, &context_desc, &context_);
  then("create a command list", driver.list_create, context_, device, &queue_desc, &list_);
  then("create an event pool", driver.event_pool_create, context_, &pool_desc, 1u, &device, &event_pool_);
  then("create an event", driver.event_create, event_pool_, &event_desc, &event_);
  return status;
}

DeviceFacts LevelZeroDevice::Facts() const {
  DeviceFacts facts;
  uint32_t count = 0;
  driver_->memory_properties(found_.device, &count, nullptr);
  std::vector<ZeMemoryProperties> memories(count);
  if (count > 0 && driver_->memory_properties(found_.device, &count, memories.data()) == 0) {
    for (const ZeMemoryProperties& memory : memories) {
      facts.memory_bytes += memory.bytes;
      facts.memory_clock_mhz = std::max(facts.memory_clock_mhz, memory.clock_mhz);
    }
  }
  facts.clock_mhz = properties_.core_clock_mhz;
  facts.threads_per_program = compute_.max_group_size;
  facts.programs_per_cluster = 1;
  facts.shared_bytes_per_program = compute_.max_shared_bytes;
  return facts;
}

KernelFacts LevelZeroDevice::FactsOf(const Kernel& kernel) const {
  const auto* loaded = dynamic_cast<const LevelZeroKernel*>(&kernel);
  KernelFacts facts;
  if (loaded == nullptr) return facts;
  const KernelInfo& info = kernel.info();
  facts.spill_bytes = loaded->properties().spill_bytes / info.warp_size;  // they are a sub-group's
  facts.shared_bytes = uint64_t{info.shared} + loaded->properties().shared_bytes;
  return facts;
}

// Of the driver's compiler, for SPIR-V ("Intel oneAPI GPU Optimization Guide", "Small Register Mode vs. Large Register
// Mode").
const char* BuildFlagsOf(absl::string_view grf_mode) {
  if (grf_mode == "128") return "-cl-intel-128-GRF-per-thread";
  if (grf_mode == "256") return "-cl-intel-256-GRF-per-thread";
  return grf_mode == "auto" ? "-cl-intel-enable-auto-large-GRF-mode" : "";
}

absl::StatusOr<ZeModule> LevelZeroDevice::LoadModule(absl::string_view binary, const KernelInfo& info,
                                                     const char* build_flags) const {
  ZeModuleDesc desc;
  desc.format = IsSpirv(binary) ? ZeModuleDesc::kSpirv : ZeModuleDesc::kNative;
  desc.bytes = binary.size();
  desc.module = reinterpret_cast<const uint8_t*>(binary.data());
  desc.build_flags = build_flags;
  ZeModule module = nullptr;
  ZeBuildLog log = nullptr;
  absl::Status loaded = driver_->Check(driver_->module_create(context_, found_.device, &desc, &module, &log),
                                       absl::StrCat("load ", info.name, " for ", Model()));
  if (log == nullptr) return loaded.ok() ? absl::StatusOr<ZeModule>(module) : loaded;
  size_t bytes = 0;
  if (!loaded.ok() && driver_->log_text(log, &bytes, nullptr) == 0 && bytes > 1) {
    std::string text(bytes, '\0');
    if (driver_->log_text(log, &bytes, text.data()) == 0)
      loaded = absl::Status(loaded.code(), absl::StrCat(loaded.message(), " ", text.c_str()));
  }
  driver_->log_destroy(log);
  return loaded.ok() ? absl::StatusOr<ZeModule>(module) : loaded;
}

absl::StatusOr<std::unique_ptr<Kernel>> LevelZeroDevice::Load(absl::string_view binary, const KernelInfo& info) {
  if (binary.empty()) return absl::InvalidArgumentError("an empty binary");
  if (absl::Status fits = CheckShared(info, 0, compute_.max_shared_bytes); !fits.ok()) return fits;
  absl::StatusOr<std::unique_ptr<LevelZeroKernel>> kernel = LoadKernel(binary, info, BuildFlagsOf(info.grf_mode));
  const bool may_grow = IsSpirv(binary) && info.grf_mode == "default";
  if (!kernel.ok() || !may_grow || (*kernel)->properties().spill_bytes == 0) return kernel;
  absl::StatusOr<std::unique_ptr<LevelZeroKernel>> large = LoadKernel(binary, info, BuildFlagsOf("256"));
  if (large.ok() && (*large)->properties().spill_bytes < (*kernel)->properties().spill_bytes) return large;
  return kernel;
}

absl::StatusOr<std::unique_ptr<LevelZeroKernel>> LevelZeroDevice::LoadKernel(absl::string_view binary,
                                                                             const KernelInfo& info,
                                                                             const char* build_flags) {
  const absl::StatusOr<ZeModule> module = LoadModule(binary, info, build_flags);
  if (!module.ok()) return module.status();
  ZeKernelDesc desc;
  desc.name = info.name.c_str();
  ZeKernel handle = nullptr;
  ZeKernelProperties properties = {};
  absl::Status status =
      driver_->Check(driver_->kernel_create(*module, &desc, &handle), absl::StrCat("find kernel \"", info.name, "\""));
  if (status.ok()) status = driver_->Check(driver_->kernel_properties(handle, &properties), info.name);
  if (status.ok())
    status = driver_->Check(driver_->kernel_group_size(handle, info.num_warps * info.warp_size, 1, 1), info.name);
  if (status.ok()) return std::make_unique<LevelZeroKernel>(info, this, *module, handle, properties);
  Unload(*module, handle);
  return status;
}

absl::StatusOr<uint64_t> LevelZeroDevice::AllocateBytes(uint64_t bytes) {
  constexpr size_t kAlignment = 256;
  const ZeDeviceMemoryDesc desc;
  void* pointer = nullptr;
  const ZeResult result = driver_->memory_allocate(context_, &desc, bytes, kAlignment, found_.device, &pointer);
  if (result != 0) return driver_->Check(result, absl::StrCat("allocate ", bytes, " bytes on ", Name()));
  return reinterpret_cast<uint64_t>(pointer);
}

absl::Status LevelZeroDevice::CopyToDevice(uint64_t to, absl::Span<const char> from) {
  void* pointer = reinterpret_cast<void*>(to);
  return driver_->Check(driver_->append_copy(list_, pointer, from.data(), from.size(), nullptr, 0, nullptr),
                        "copy to the device");
}

absl::Status LevelZeroDevice::CopyFromDevice(absl::Span<char> to, uint64_t from) {
  const void* pointer = reinterpret_cast<const void*>(from);
  return driver_->Check(driver_->append_copy(list_, to.data(), pointer, to.size(), nullptr, 0, nullptr),
                        "copy from the device");
}

absl::Status LevelZeroDevice::Fill(uint64_t to, unsigned char value, uint64_t bytes) {
  void* pointer = reinterpret_cast<void*>(to);
  return driver_->Check(driver_->append_fill(list_, pointer, &value, sizeof(value), bytes, nullptr, 0, nullptr),
                        "fill memory");
}

uint64_t LevelZeroDevice::CacheBytes() const {
  uint32_t count = 0;
  driver_->cache_properties(found_.device, &count, nullptr);
  std::vector<ZeCacheProperties> caches(count);
  if (count == 0 || driver_->cache_properties(found_.device, &count, caches.data()) != 0) return 0;
  uint64_t most = 0;
  for (const ZeCacheProperties& cache : caches) most = std::max<uint64_t>(most, cache.bytes);
  return most;
}

absl::Status LevelZeroDevice::SetArguments(const LevelZeroKernel& kernel, absl::Span<const Argument> arguments) const {
  const KernelInfo& info = kernel.info();
  absl::Status status = CheckParameterCount(info, kernel.properties().parameters, arguments);
  uint32_t index = 0;
  const auto set = [&](size_t bytes, const void* value) {
    if (!status.ok()) return;
    status = driver_->Check(driver_->kernel_argument(kernel.handle(), index, bytes, value),
                            absl::StrCat(info.name, ": argument ", index));
    ++index;
  };
  for (const Argument& argument : arguments) {
    // Drivers know no memory at address 0: a null pointer is no value.
    const bool is_null = argument.is_pointer() && argument.address() == nullptr;
    set(argument.size(), is_null ? nullptr : argument.data());
  }
  if (info.shared > 0) set(info.shared, nullptr);
  return status;
}

// Timestamps have a limited number of bits, and begin again at 0.
absl::Duration LevelZeroDevice::TimeBetween(uint64_t start, uint64_t end) const {
  const uint32_t bits = properties_.kernel_timestamp_bits;
  const uint64_t mask = bits == 0 || bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return absl::Seconds(static_cast<double>((end - start) & mask) / std::max<uint64_t>(properties_.timer_hertz, 1));
}

absl::Status LevelZeroDevice::Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                                  absl::Duration* time) {
  const auto& loaded = static_cast<const LevelZeroKernel&>(kernel);
  const std::string& name = kernel.info().name;
  if (absl::Status set = SetArguments(loaded, arguments); !set.ok()) return set;
  if (time != nullptr) {
    if (absl::Status reset = driver_->Check(driver_->event_reset(event_), "reset an event"); !reset.ok()) return reset;
  }
  const ZeGroupCount groups = {blocks.x, blocks.y, blocks.z};
  const auto launch =
      kernel.info().launch_cooperative_grid ? driver_->append_cooperative_launch : driver_->append_launch;
  const ZeEvent signal = time == nullptr ? nullptr : event_;
  absl::Status status =
      driver_->Check(launch(list_, loaded.handle(), &groups, signal, 0, nullptr), absl::StrCat("run ", name));
  if (!status.ok() || time == nullptr) return status;
  status = driver_->Check(driver_->event_synchronize(event_, UINT64_MAX), absl::StrCat("run ", name));
  ZeTimestamps stamps = {};
  if (status.ok()) status = driver_->Check(driver_->event_timestamps(event_, &stamps), "read an event");
  *time = TimeBetween(stamps.global_start, stamps.global_end);
  return status;
}

absl::StatusOr<std::vector<Found>> FindDevices(const LevelZeroDriver& driver) {
  uint32_t driver_count = 0;
  absl::Status status = driver.Check(driver.driver_get(&driver_count, nullptr), "list Level Zero drivers");
  std::vector<ZeDriverHandle> drivers(driver_count);
  if (status.ok()) status = driver.Check(driver.driver_get(&driver_count, drivers.data()), "list Level Zero drivers");
  std::vector<Found> found;
  for (ZeDriverHandle handle : drivers) {
    uint32_t count = 0;
    if (status.ok()) status = driver.Check(driver.device_get(handle, &count, nullptr), "list Level Zero devices");
    std::vector<ZeDeviceHandle> devices(count);
    if (status.ok())
      status = driver.Check(driver.device_get(handle, &count, devices.data()), "list Level Zero devices");
    for (ZeDeviceHandle device : devices) {
      ZeDeviceProperties properties = {};
      if (status.ok()) status = driver.Check(driver.device_properties(device, &properties), "list Level Zero devices");
      if (properties.kind == ZeDeviceProperties::kGpu) found.push_back({handle, device});
    }
  }
  if (!status.ok()) return status;
  return found;
}

}  // namespace

absl::StatusOr<int> CountLevelZeroDevices(const std::string& library) {
  const auto driver = LevelZeroDriver::Open(library);
  if (!driver.ok()) return driver.status();
  const auto found = FindDevices(**driver);
  if (!found.ok()) return found.status();
  return static_cast<int>(found->size());
}

absl::StatusOr<std::unique_ptr<Device>> OpenLevelZeroDevice(int index, const std::string& library) {
  auto driver = LevelZeroDriver::Open(library);
  if (!driver.ok()) return driver.status();
  const auto found = FindDevices(**driver);
  if (!found.ok()) return found.status();
  if (index >= static_cast<int>(found->size()))
    return absl::NotFoundError(absl::StrCat("no ze:", index, ": Level Zero has ", found->size(), " GPUs"));
  auto device = std::make_unique<LevelZeroDevice>(*std::move(driver), index, (*found)[index]);
  if (absl::Status status = device->Start(); !status.ok()) return status;
  return device;
}

}  // namespace tritond::workers
