// SPDX-License-Identifier: Apache-2.0
#include "workers/device/hip_device.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "workers/device/gpu_device.h"
#include "workers/device/hip_driver.h"

namespace tritond::workers {
namespace {

constexpr int kAmdGpuMachine = 224;  // EM_AMDGPU

class HipDevice;

class HipKernel final : public GpuKernel {
 public:
  HipKernel(KernelInfo info, const HipDevice* device, HipModule module, HipFunction function);
  ~HipKernel() override;

  HipFunction function() const { return function_; }

 private:
  const HipDevice* const owner_;
  const HipModule module_;
  const HipFunction function_;
};

// Everything runs on the default stream, in order.
class HipDevice final : public GpuDevice {
 public:
  HipDevice(std::unique_ptr<HipDriver> driver, int index) : driver_(std::move(driver)), index_(index) {}
  ~HipDevice() override;

  absl::Status Start();

  std::string Name() const override { return absl::StrCat("hip:", index_); }
  std::string Target() const override { return absl::StrCat("hip:", architecture_); }
  std::string Model() const override { return model_; }
  // "6.3.42134": major, minor, patch in decimal digits of one number.
  std::string Driver() const override {
    return absl::StrCat(version_ / 10000000, ".", version_ / 100000 % 100, ".", version_ % 100000);
  }
  DeviceFacts Facts() const override;
  KernelFacts FactsOf(const Kernel& kernel) const override;

  absl::StatusOr<std::unique_ptr<Kernel>> Load(absl::string_view binary, const KernelInfo& info) override;
  PinnedBytes Pin(absl::Span<const char> bytes) override;

  void Unload(HipModule module) const {
    if (Enter().ok()) driver_->module_unload(module);
  }

 private:
  void Free(uint64_t address) override {
    if (Enter().ok()) driver_->memory_free(reinterpret_cast<void*>(address));
  }
  void Unpin(const char* bytes) override {
    if (Enter().ok()) driver_->host_unregister(const_cast<char*>(bytes));
  }
  // The run-time has a current device for each thread.
  absl::Status Enter() const override { return driver_->Check(driver_->device_set(index_), Name()); }
  absl::StatusOr<uint64_t> AllocateBytes(uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t to, absl::Span<const char> from) override;
  absl::Status CopyFromDevice(absl::Span<char> to, uint64_t from) override;
  absl::Status Fill(uint64_t to, unsigned char value, uint64_t bytes) override;
  uint64_t CacheBytes() const override { return Attribute(HipDriver::kL2CacheBytes); }
  absl::Status Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                   absl::Duration* time) override;

  uint32_t Attribute(int attribute) const;
  absl::Status Start(const HipKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments) const;

  const std::unique_ptr<HipDriver> driver_;
  const int index_;
  HipEvent events_[2] = {nullptr, nullptr};  // around a timed launch
  std::string model_;
  std::string architecture_;
  int version_ = 0;
};

HipKernel::HipKernel(KernelInfo info, const HipDevice* device, HipModule module, HipFunction function)
    : GpuKernel(std::move(info), device), owner_(device), module_(module), function_(function) {}

HipKernel::~HipKernel() { owner_->Unload(module_); }

HipDevice::~HipDevice() {
  for (const HipEvent event : events_) {
    if (event != nullptr && Enter().ok()) driver_->event_destroy(event);
  }
}

absl::Status HipDevice::Start() {
  HipProperties properties = {};
  absl::Status status = driver_->Check(driver_->device_properties(&properties, index_), Name());
  if (status.ok()) status = driver_->Check(driver_->driver_version(&version_), Name());
  if (status.ok()) status = Enter();
  for (HipEvent& event : events_) {
    if (status.ok()) status = driver_->Check(driver_->event_create(&event), "create an event");
  }
  // What follows the colon are features that kernels for the plain name run with.
  architecture_ = std::string(properties.architecture, std::strcspn(properties.architecture, ":"));
  model_ = properties.name[0] != '\0' ? properties.name : architecture_;
  return status;
}

// 0: it does not say.
uint32_t HipDevice::Attribute(int attribute) const {
  int value = 0;
  const HipResult result = driver_->device_attribute(&value, attribute, index_);
  return static_cast<uint32_t>(result == 0 ? std::max(0, value) : 0);
}

DeviceFacts HipDevice::Facts() const {
  DeviceFacts facts;
  size_t memory_bytes = 0;
  if (driver_->device_memory(&memory_bytes, index_) == 0) facts.memory_bytes = memory_bytes;
  facts.clock_mhz = Attribute(HipDriver::kClockKhz) / 1000;
  facts.memory_clock_mhz = Attribute(HipDriver::kMemoryClockKhz) / 1000;
  facts.threads_per_program = Attribute(HipDriver::kMaxThreads);
  facts.programs_per_cluster = 1;
  facts.shared_bytes_per_program = Attribute(HipDriver::kMaxSharedBytes);
  facts.threads = Attribute(HipDriver::kMaxThreadsOfMultiprocessor);
  facts.programs = Attribute(HipDriver::kMaxBlocksOfMultiprocessor);
  facts.shared_bytes = Attribute(HipDriver::kSharedBytesOfMultiprocessor);
  return facts;
}

KernelFacts HipDevice::FactsOf(const Kernel& kernel) const {
  const auto* hip_kernel = dynamic_cast<const HipKernel*>(&kernel);
  KernelFacts facts;
  if (hip_kernel == nullptr || !Enter().ok()) return facts;
  const auto attribute = [&](int number) {
    int value = 0;
    const HipResult result = driver_->function_get(&value, number, hip_kernel->function());
    return static_cast<uint32_t>(result == 0 ? std::max(0, value) : 0);
  };
  const KernelInfo& info = kernel.info();
  facts.registers = attribute(HipDriver::kRegisters);
  facts.spill_bytes = attribute(HipDriver::kLocalBytes);
  facts.shared_bytes = uint64_t{info.shared} + attribute(HipDriver::kStaticSharedBytes);
  int blocks = 0;
  const int threads = static_cast<int>(info.num_warps * info.warp_size);
  if (driver_->occupancy(&blocks, hip_kernel->function(), threads, info.shared) == 0 && blocks > 0)
    facts.programs_at_once = static_cast<uint32_t>(blocks);
  return facts;
}

// The run-time is not told the size of an image, and goes by what stands in it.
bool IsWholeHsaco(absl::string_view binary) {
  Elf64_Ehdr header;
  if (binary.size() < sizeof(header)) return false;
  std::memcpy(&header, binary.data(), sizeof(header));
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == kAmdGpuMachine &&
         header.e_shoff <= binary.size() && sections <= binary.size() - header.e_shoff;
}

absl::StatusOr<std::unique_ptr<Kernel>> HipDevice::Load(absl::string_view binary, const KernelInfo& info) {
  if (absl::Status status = Enter(); !status.ok()) return status;
  if (!IsWholeHsaco(binary))
    return absl::InvalidArgumentError(absl::StrCat("load ", info.name, ": the binary is no hsaco, or a part of one"));
  const absl::Status fits = CheckShared(info, 0, Attribute(HipDriver::kMaxSharedBytes));
  if (!fits.ok()) return fits;
  HipModule module = nullptr;
  const absl::Status loaded = driver_->Check(driver_->module_load(&module, binary.data()),
                                             absl::StrCat("load ", info.name, " for ", architecture_));
  if (!loaded.ok()) return loaded;
  HipFunction function = nullptr;
  const absl::Status found = driver_->Check(driver_->module_function(&function, module, info.name.c_str()),
                                            absl::StrCat("find kernel \"", info.name, "\""));
  if (!found.ok()) {
    driver_->module_unload(module);
    return found;
  }
  return std::make_unique<HipKernel>(info, this, module, function);
}

absl::StatusOr<uint64_t> HipDevice::AllocateBytes(uint64_t bytes) {
  void* pointer = nullptr;
  const HipResult result = driver_->memory_allocate(&pointer, bytes);
  if (result != 0) return driver_->Check(result, absl::StrCat("allocate ", bytes, " bytes on ", Name()));
  return reinterpret_cast<uint64_t>(pointer);
}

absl::Status HipDevice::CopyToDevice(uint64_t to, absl::Span<const char> from) {
  return driver_->Check(driver_->copy_in(reinterpret_cast<void*>(to), from.data(), from.size()), "copy to the device");
}

absl::Status HipDevice::CopyFromDevice(absl::Span<char> to, uint64_t from) {
  return driver_->Check(driver_->copy_out(to.data(), reinterpret_cast<void*>(from), to.size()), "copy from the device");
}

absl::Status HipDevice::Fill(uint64_t to, unsigned char value, uint64_t bytes) {
  return driver_->Check(driver_->memory_set(reinterpret_cast<void*>(to), value, bytes), "fill memory");
}

PinnedBytes HipDevice::Pin(absl::Span<const char> bytes) {
  if (bytes.size() < kLeastPinnedBytes || !Enter().ok()) return {};
  const bool pinned = driver_->host_register(const_cast<char*>(bytes.data()), bytes.size(), 0) == 0;
  return pinned ? PinnedBytes(this, bytes.data()) : PinnedBytes();
}

absl::Status HipDevice::Start(const HipKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments) const {
  const KernelInfo& info = kernel.info();
  std::vector<void*> parameters = PointersTo(arguments);
  const unsigned int threads = info.num_warps * info.warp_size;
  const HipResult result = info.launch_cooperative_grid
                               ? driver_->launch_cooperative(kernel.function(), blocks.x, blocks.y, blocks.z, threads,
                                                             1, 1, info.shared, nullptr, parameters.data())
                               : driver_->launch(kernel.function(), blocks.x, blocks.y, blocks.z, threads, 1, 1,
                                                 info.shared, nullptr, parameters.data(), nullptr);
  return driver_->Check(result, absl::StrCat("launch ", info.name));
}

absl::Status HipDevice::Run(const GpuKernel& kernel, const Grid& blocks, absl::Span<const Argument> arguments,
                            absl::Duration* time) {
  const auto record = [&](HipEvent event) {
    return time == nullptr ? absl::OkStatus()
                           : driver_->Check(driver_->event_record(event, nullptr), "record an event");
  };
  absl::Status status = record(events_[0]);
  if (status.ok()) status = Start(static_cast<const HipKernel&>(kernel), blocks, arguments);
  if (status.ok()) status = record(events_[1]);
  if (status.ok()) status = driver_->Check(driver_->device_synchronize(), absl::StrCat("run ", kernel.info().name));
  if (!status.ok() || time == nullptr) return status;
  float milliseconds = 0;
  status = driver_->Check(driver_->event_elapsed(&milliseconds, events_[0], events_[1]), "read an event");
  *time = absl::Milliseconds(milliseconds);
  return status;
}

}  // namespace

absl::StatusOr<int> CountHipDevices(const std::string& library) {
  auto driver = HipDriver::Open(library);
  if (!driver.ok()) return driver.status();
  int count = 0;
  const HipResult result = (*driver)->device_count(&count);
  if (result != 0) return (*driver)->Check(result, "count HIP devices");
  return count;
}

absl::StatusOr<std::unique_ptr<Device>> OpenHipDevice(int index, const std::string& library) {
  auto driver = HipDriver::Open(library);
  if (!driver.ok()) return driver.status();
  auto device = std::make_unique<HipDevice>(*std::move(driver), index);
  if (absl::Status status = device->Start(); !status.ok()) return status;
  return device;
}

}  // namespace tritond::workers
