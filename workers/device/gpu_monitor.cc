// SPDX-License-Identifier: Apache-2.0
#include "workers/device/gpu_monitor.h"

#include "absl/memory/memory.h"

namespace tritond::workers {

std::unique_ptr<GpuMonitor> GpuMonitor::Open(const std::string& bus_id, const std::string& library) {
  absl::StatusOr<DriverLibrary> opened = DriverLibrary::Open("management library", library);
  if (!opened.ok()) return nullptr;
  auto monitor = absl::WrapUnique(new GpuMonitor());
  if (!monitor->Find(*opened) || monitor->init_() != 0) return nullptr;
  monitor->started_ = true;
  return monitor->gpu_of_(bus_id.c_str(), &monitor->gpu_) == 0 ? std::move(monitor) : nullptr;
}

GpuMonitor::~GpuMonitor() {
  if (started_) shutdown_();
}

bool GpuMonitor::Find(DriverLibrary& library) {
  library.Find("nvmlInit_v2", init_);
  library.Find("nvmlShutdown", shutdown_);
  library.Find("nvmlDeviceGetHandleByPciBusId_v2", gpu_of_);
  library.Find("nvmlSystemGetDriverVersion", driver_version_);
  library.Find("nvmlDeviceGetClockInfo", clock_);
  library.Find("nvmlDeviceGetTemperature", temperature_);
  library.Find("nvmlDeviceGetPowerUsage", power_);
  return library.Complete("R450").ok();
}

std::string GpuMonitor::DriverVersion() const {
  char version[128] = {};
  return driver_version_(version, sizeof(version) - 1) == 0 ? version : "";
}

DeviceState GpuMonitor::State() const {
  const auto read = [](auto function, auto... arguments) {
    unsigned int value = 0;
    return function(arguments..., &value) == 0 ? value : 0;
  };
  DeviceState state;
  state.clock_mhz = read(clock_, gpu_, int{kMultiprocessors});
  state.memory_clock_mhz = read(clock_, gpu_, int{kMemory});
  state.temperature_celsius = read(temperature_, gpu_, kDie);
  state.power_watts = (read(power_, gpu_) + 500) / 1000;
  return state;
}

}  // namespace tritond::workers
