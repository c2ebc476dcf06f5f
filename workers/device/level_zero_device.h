// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_LEVEL_ZERO_DEVICE_H_
#define WORKERS_DEVICE_LEVEL_ZERO_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The usual library of the Level Zero loader.
inline constexpr char kLevelZeroLibrary[] = "libze_loader.so.1";

// How many GPUs the drivers have; FailedPrecondition where there is no loader, or no driver with a GPU.
absl::StatusOr<int> CountLevelZeroDevices(const std::string& library = kLevelZeroLibrary);

// GPU `index`, counted over the drivers in their order. Takes SPIR-V and the GPU's native modules. A kernel's shared
// memory is its last parameter. After a kernel has failed on it the device is lost to this process.
// FailedPrecondition: no loader or driver on this machine; NotFound: it has no such GPU.
absl::StatusOr<std::unique_ptr<Device>> OpenLevelZeroDevice(int index, const std::string& library = kLevelZeroLibrary);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_LEVEL_ZERO_DEVICE_H_
