// SPDX-License-Identifier: Apache-2.0
#include "workers/device/cuda_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "workers/device/cuda_driver.h"
#include "workers/device/gpu_device.h"
#include "workers/device/gpu_monitor.h"

namespace tritond::workers {
namespace {

class CudaDevice;

class CudaKernel final : public GpuKernel {
 public:
  CudaKernel(KernelInfo info, CudaDevice* device, CudaModule module, CudaFunction function);
  ~CudaKernel() override;

  CudaFunction function() const { return function_; }

 private:
  CudaDevice* const owner_;
  const CudaModule module_;
  const CudaFunction function_;
};

// Everything runs on the default stream, in order.
class CudaDevice final : public GpuDevice {
 public:
  CudaDevice(std::unique_ptr<CudaDriver> driver, int index, CudaDeviceId id)
      : driver_(std::move(driver)), index_(index), id_(id) {}
  ~CudaDevice() override;

  absl::Status Start();

  std::string Name() const override { return absl::StrCat("cuda:", index_); }
  std::string Target() const override { return absl::StrCat("cuda:", major_ * 10 + minor_); }
  std::string Model() const override { return model_; }
  std::string Driver() const override;

  DeviceFacts Facts() const override;
  DeviceState State() const override { return monitor_ == nullptr ? DeviceState() : monitor_->State(); }
  KernelFacts FactsOf(const Kernel& kernel) const override;

  absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) override;
  PinnedBytes Pin(absl::Span<const char> bytes) override;
  absl::StatusOr<Argument> MapTensor(const MappedTensor& tensor) override;

  void Unload(CudaModule module) {
    if (Enter().ok()) driver_->module_unload(module);
  }

 private:
  void Free(uint64_t address) override {
    if (Enter().ok()) driver_->memory_free(address);
  }
  void Unpin(const char* bytes) override {
    if (Enter().ok()) driver_->host_unregister(const_cast<char*>(bytes));
  }
  // Contexts belong to threads; ours may be called from another one now.
  absl::Status Enter() const override { return driver_->Check(driver_->context_set(context_), Name()); }
  absl::StatusOr<uint64_t> AllocateBytes(uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t to, absl::Span<const char> from) override;
  absl::Status CopyFromDevice(absl::Span<char> to, uint64_t from) override;
  absl::Status Fill(uint64_t to, unsigned char value, uint64_t bytes) override;
  uint64_t CacheBytes() const override { return static_cast<uint64_t>(l2_bytes_); }
  absl::Status Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                   absl::Duration* time) override;

  absl::StatusOr<int> Attribute(int attribute) const;
  absl::Status AllowShared(CudaFunction function, const KernelInfo& info) const;
  absl::Status Start(const CudaKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments) const;

  const std::unique_ptr<CudaDriver> driver_;
  const int index_;
  const CudaDeviceId id_;
  CudaContext context_ = nullptr;
  CudaEvent events_[2] = {nullptr, nullptr};  // around a timed launch
  std::unique_ptr<GpuMonitor> monitor_;       // null where there is none
  std::string model_;
  int major_ = 0;
  int minor_ = 0;
  int version_ = 0;  // 12080 for 12.8
  int max_shared_bytes_ = 0;
  int l2_bytes_ = 0;
};

CudaKernel::CudaKernel(KernelInfo info, CudaDevice* device, CudaModule module, CudaFunction function)
    : GpuKernel(std::move(info), device), owner_(device), module_(module), function_(function) {}

CudaKernel::~CudaKernel() { owner_->Unload(module_); }

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  for (const CudaEvent event : events_) {
    if (event != nullptr && Enter().ok()) driver_->event_destroy(event);
  }
  driver_->context_release(id_);
}

absl::StatusOr<int> CudaDevice::Attribute(int attribute) const {
  int value = 0;
  const CudaResult result = driver_->device_attribute(&value, attribute, id_);
  if (result != 0) return driver_->Check(result, absl::StrCat(Name(), ": attribute ", attribute));
  return value;
}

absl::Status CudaDevice::Start() {
  char name[256] = {};
  absl::Status status = driver_->Check(driver_->device_name(name, sizeof(name) - 1, id_), Name());
  status.Update(driver_->Check(driver_->driver_version(&version_), Name()));
  model_ = name;
  const std::pair<int, int*> attributes[] = {{CudaDriver::kMajor, &major_},
                                             {CudaDriver::kMinor, &minor_},
                                             {CudaDriver::kMaxSharedBytes, &max_shared_bytes_},
                                             {CudaDriver::kL2CacheBytes, &l2_bytes_}};
  for (const auto& [attribute, to] : attributes) {
    const auto value = Attribute(attribute);
    if (!value.ok()) return value.status();
    *to = *value;
  }
  if (status.ok()) status = driver_->Check(driver_->context_retain(&context_, id_), Name());
  if (!status.ok()) context_ = nullptr;
  if (status.ok()) status = Enter();
  for (CudaEvent& event : events_) {
    if (status.ok()) status = driver_->Check(driver_->event_create(&event, 0), "create an event");
  }
  char bus_id[32] = {};
  if (status.ok() && driver_->device_bus_id(bus_id, sizeof(bus_id), id_) == 0) monitor_ = GpuMonitor::Open(bus_id);
  return status;
}

// "580.65.06 (CUDA 13.0)": the kernel's driver decides about clocks and scheduling, CUDA's version only about calls.
std::string CudaDevice::Driver() const {
  const std::string cuda = absl::StrCat(version_ / 1000, ".", version_ % 1000 / 10);
  const std::string driver = monitor_ == nullptr ? "" : monitor_->DriverVersion();
  return driver.empty() ? cuda : absl::StrCat(driver, " (CUDA ", cuda, ")");
}

// What the driver does not tell stays 0.
DeviceFacts CudaDevice::Facts() const {
  constexpr int kHopper = 9;
  const auto attribute = [this](int number) {
    return static_cast<uint32_t>(std::max(0, Attribute(number).value_or(0)));
  };
  DeviceFacts facts;
  size_t memory_bytes = 0;
  if (driver_->device_memory(&memory_bytes, id_) == 0) facts.memory_bytes = memory_bytes;
  facts.clock_mhz = attribute(CudaDriver::kClockKhz) / 1000;
  facts.memory_clock_mhz = attribute(CudaDriver::kMemoryClockKhz) / 1000;
  facts.threads_per_program = attribute(CudaDriver::kMaxThreads);
  facts.programs_per_cluster = major_ >= kHopper ? 16 : 1;
  facts.shared_bytes_per_program = static_cast<uint64_t>(max_shared_bytes_);
  facts.registers_per_thread = 255;
  facts.threads = attribute(CudaDriver::kMaxThreadsOfMultiprocessor);
  facts.programs = attribute(CudaDriver::kMaxBlocksOfMultiprocessor);
  facts.shared_bytes = attribute(CudaDriver::kSharedBytesOfMultiprocessor);
  facts.registers = attribute(CudaDriver::kRegistersOfMultiprocessor);
  return facts;
}

KernelFacts CudaDevice::FactsOf(const Kernel& kernel) const {
  const auto* cuda_kernel = dynamic_cast<const CudaKernel*>(&kernel);
  KernelFacts facts;
  if (cuda_kernel == nullptr || !Enter().ok()) return facts;
  const auto attribute = [&](int number) {
    int value = 0;
    const CudaResult result = driver_->function_get(&value, number, cuda_kernel->function());
    return static_cast<uint32_t>(result == 0 ? std::max(0, value) : 0);
  };
  const KernelInfo& info = kernel.info();
  facts.registers = attribute(CudaDriver::kRegisters);
  facts.spill_bytes = attribute(CudaDriver::kLocalBytes);
  facts.shared_bytes = uint64_t{info.shared} + attribute(CudaDriver::kStaticSharedBytes);
  int blocks = 0;
  const int threads = static_cast<int>(info.num_warps * info.warp_size);
  if (driver_->occupancy(&blocks, cuda_kernel->function(), threads, info.shared) == 0 && blocks > 0)
    facts.programs_at_once = static_cast<uint32_t>(blocks);
  return facts;
}

absl::StatusOr<std::unique_ptr<Kernel>> CudaDevice::Load(absl::string_view binary, const KernelInfo& info) {
  if (absl::Status status = Enter(); !status.ok()) return status;
  if (binary.empty()) return absl::InvalidArgumentError("an empty binary");
  const std::string image(binary);  // PTX text needs the zero after its end
  std::string log(4096, '\0');
  int options[] = {CudaDriver::kErrorLog, CudaDriver::kErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CudaModule module = nullptr;
  const CudaResult loaded = driver_->module_load(&module, image.data(), 2, options, values);
  if (loaded != 0) {
    const absl::Status status = driver_->Check(loaded, absl::StrCat("load ", info.name));
    return absl::Status(status.code(), absl::StrCat(status.message(), " ", log.c_str()));
  }
  CudaFunction function = nullptr;
  absl::Status status = driver_->Check(driver_->module_function(&function, module, info.name.c_str()),
                                       absl::StrCat("find kernel \"", info.name, "\""));
  if (status.ok()) status = AllowShared(function, info);
  if (!status.ok()) {
    driver_->module_unload(module);
    return status;
  }
  return std::make_unique<CudaKernel>(info, this, module, function);
}

// More than 48 KiB of shared memory must be asked for; what the kernel declares itself counts against the limit.
absl::Status CudaDevice::AllowShared(CudaFunction function, const KernelInfo& info) const {
  int declared = 0;
  const CudaResult result = driver_->function_get(&declared, CudaDriver::kStaticSharedBytes, function);
  if (result != 0) return driver_->Check(result, info.name);
  const absl::Status fits =
      CheckShared(info, static_cast<uint64_t>(declared), static_cast<uint64_t>(max_shared_bytes_));
  if (!fits.ok()) return fits;
  if (info.shared + declared <= 48 << 10) return absl::OkStatus();
  return driver_->Check(
      driver_->function_set(function, CudaDriver::kMaxDynamicSharedBytes, static_cast<int>(info.shared)), info.name);
}

absl::StatusOr<uint64_t> CudaDevice::AllocateBytes(uint64_t bytes) {
  CudaPointer pointer = 0;
  const CudaResult result = driver_->memory_allocate(&pointer, bytes);
  if (result != 0) return driver_->Check(result, absl::StrCat("allocate ", bytes, " bytes on ", Name()));
  return pointer;
}

absl::Status CudaDevice::CopyToDevice(uint64_t to, absl::Span<const char> from) {
  return driver_->Check(driver_->copy_in(to, from.data(), from.size()), "copy to the device");
}

absl::Status CudaDevice::CopyFromDevice(absl::Span<char> to, uint64_t from) {
  return driver_->Check(driver_->copy_out(to.data(), from, to.size()), "copy from the device");
}

absl::Status CudaDevice::Fill(uint64_t to, unsigned char value, uint64_t bytes) {
  return driver_->Check(driver_->memory_set(to, value, bytes), "fill memory");
}

PinnedBytes CudaDevice::Pin(absl::Span<const char> bytes) {
  if (bytes.size() < kLeastPinnedBytes || !Enter().ok()) return {};
  const bool pinned = driver_->host_register(const_cast<char*>(bytes.data()), bytes.size(), 0) == 0;
  return pinned ? PinnedBytes(this, bytes.data()) : PinnedBytes();
}

absl::Status CudaDevice::Start(const CudaKernel& kernel, const Grid& blocks,
                               absl::Span<const Argument> arguments) const {
  const KernelInfo& info = kernel.info();
  CudaLaunchAttribute attributes[3] = {};
  unsigned int count = 0;
  if (info.launch_cooperative_grid) {
    attributes[count].id = CudaLaunchAttribute::kCooperative;
    attributes[count++].values[0] = 1;
  }
  if (info.num_ctas > 1) {
    attributes[count].id = CudaLaunchAttribute::kClusterDimension;
    attributes[count].values[0] = info.num_ctas;
    attributes[count].values[1] = 1;
    attributes[count++].values[2] = 1;
    attributes[count].id = CudaLaunchAttribute::kClusterScheduling;
    attributes[count++].values[0] = 1;
  }
  CudaLaunchConfig config = {};
  config.grid[0] = blocks.x;
  config.grid[1] = blocks.y;
  config.grid[2] = blocks.z;
  config.block[0] = info.num_warps * info.warp_size;
  config.block[1] = config.block[2] = 1;
  config.shared_bytes = info.shared;
  config.attributes = attributes;
  config.attribute_count = count;
  std::vector<void*> parameters = PointersTo(arguments);
  return driver_->Check(driver_->launch(&config, kernel.function(), parameters.data(), nullptr),
                        absl::StrCat("launch ", info.name));
}

absl::StatusOr<Argument> CudaDevice::MapTensor(const MappedTensor& tensor) {
  if (driver_->tensor_map == nullptr) return absl::UnimplementedError("tensor maps need a driver of CUDA 12 or later");
  if (absl::Status status = Enter(); !status.ok()) return status;
  // The driver counts three types otherwise than PTX: f32 of which subnormals are flushed, f64 and bf16.
  constexpr int kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
  constexpr int kPromotionTo128Bytes = 2;
  const size_t rank = tensor.shape.size();
  if (rank == 0 || tensor.strides.size() != rank || tensor.box.size() != rank || tensor.element_type < 0 ||
      tensor.element_type >= static_cast<int>(sizeof(kTypes) / sizeof(kTypes[0])))
    return absl::InvalidArgumentError("a tensor map of no such tensor");
  std::vector<uint64_t> sizes(tensor.shape.rbegin(), tensor.shape.rend()), strides;
  for (size_t i = rank - 1; i-- > 0;) strides.push_back(tensor.strides[i] * tensor.element_bytes);
  strides.push_back(0);  // so that there are some
  const std::vector<uint32_t> box(tensor.box.rbegin(), tensor.box.rend()), ones(rank, 1);
  alignas(64) unsigned char map[Argument::kMapBytes] = {};
  const CudaResult result =
      driver_->tensor_map(map, kTypes[tensor.element_type], static_cast<unsigned int>(rank),
                          reinterpret_cast<void*>(tensor.address), sizes.data(), strides.data(), box.data(),
                          ones.data(), /*interleave=*/0, tensor.swizzle, kPromotionTo128Bytes, tensor.has_nans ? 1 : 0);
  if (absl::Status status = driver_->Check(result, "make a tensor map"); !status.ok()) return status;
  return Argument::TensorMap(map);
}

absl::Status CudaDevice::Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                             absl::Duration* time) {
  const auto& cuda_kernel = static_cast<const CudaKernel&>(kernel);
  const auto record = [&](CudaEvent event) {
    return time == nullptr ? absl::OkStatus()
                           : driver_->Check(driver_->event_record(event, nullptr), "record an event");
  };
  absl::Status status = record(events_[0]);
  if (status.ok()) status = Start(cuda_kernel, blocks, arguments);
  if (status.ok()) status = record(events_[1]);
  if (status.ok()) status = driver_->Check(driver_->context_synchronize(), absl::StrCat("run ", kernel.info().name));
  if (!status.ok() || time == nullptr) return status;
  float milliseconds = 0;
  status = driver_->Check(driver_->event_elapsed(&milliseconds, events_[0], events_[1]), "read an event");
  *time = absl::Milliseconds(milliseconds);
  return status;
}

}  // namespace

absl::StatusOr<int> CountCudaDevices(const std::string& library) {
  auto driver = CudaDriver::Open(library);
  if (!driver.ok()) return driver.status();
  int count = 0;
  const CudaResult result = (*driver)->device_count(&count);
  if (result != 0) return (*driver)->Check(result, "count CUDA devices");
  return count;
}

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int index, const std::string& library) {
  auto driver = CudaDriver::Open(library);
  if (!driver.ok()) return driver.status();
  CudaDeviceId id = 0;
  const CudaResult result = (*driver)->device_get(&id, index);
  if (result != 0) return (*driver)->Check(result, absl::StrCat("open cuda:", index));
  auto device = std::make_unique<CudaDevice>(*std::move(driver), index, id);
  if (absl::Status status = device->Start(); !status.ok()) return status;
  return device;
}

}  // namespace tritond::workers
