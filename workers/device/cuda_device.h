// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_CUDA_DEVICE_H_
#define WORKERS_DEVICE_CUDA_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The CUDA driver's usual library.
inline constexpr char kCudaLibrary[] = "libcuda.so.1";

// How many devices the driver has; FailedPrecondition where there is no driver.
absl::StatusOr<int> CountCudaDevices(const std::string& library = kCudaLibrary);

// The driver's device `index`, in its primary context. Takes cubins and PTX text. After a kernel has failed on it
// (illegal address, assertion) the context is lost to this process: close all its devices and open them again.
// FailedPrecondition: no driver on this machine; NotFound: it has no such device.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int index, const std::string& library = kCudaLibrary);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_CUDA_DEVICE_H_
