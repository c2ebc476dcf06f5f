// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_GPU_MONITOR_H_
#define WORKERS_DEVICE_GPU_MONITOR_H_

#include <memory>
#include <string>

#include "workers/device/device.h"
#include "workers/device/driver_library.h"

namespace tritond::workers {

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// What NVIDIA's management library (NVML, its "API Reference Manual") tells of one GPU. Used by one thread at a time.
class GpuMonitor final {
 public:
  // The GPU with this PCI bus id, "0000:3b:00.0". Null where the library, or the GPU in it, is missing: nothing that
  // runs kernels depends on it.
  static std::unique_ptr<GpuMonitor> Open(const std::string& bus_id, const std::string& library = kNvmlLibrary);
  ~GpuMonitor();

  // "580.65.06"; empty when it cannot be read.
  std::string DriverVersion() const;
  // What cannot be read is 0.
  DeviceState State() const;

 private:
  using Result = int;  // 0: success
  using Gpu = struct NvmlGpuHandle*;
  enum Clock : int { kMultiprocessors = 1, kMemory = 2 };
  static constexpr int kDie = 0;  // the temperature sensor

  GpuMonitor() = default;
  bool Find(DriverLibrary& library);

  Result (*init_)();
  Result (*shutdown_)();
  Result (*gpu_of_)(const char* bus_id, Gpu* gpu);
  Result (*driver_version_)(char* version, unsigned int bytes);
  Result (*clock_)(Gpu gpu, int clock, unsigned int* megahertz);
  Result (*temperature_)(Gpu gpu, int sensor, unsigned int* celsius);
  Result (*power_)(Gpu gpu, unsigned int* milliwatts);
  bool started_ = false;
  Gpu gpu_ = nullptr;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_GPU_MONITOR_H_
