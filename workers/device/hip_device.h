// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HIP_DEVICE_H_
#define WORKERS_DEVICE_HIP_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The usual library of AMD's HIP run-time.
inline constexpr char kHipLibrary[] = "libamdhip64.so";

// How many devices the run-time has; FailedPrecondition where there is no run-time, or no device.
absl::StatusOr<int> CountHipDevices(const std::string& library = kHipLibrary);

// The run-time's device `index`. Takes hsaco. After a kernel has failed on it the device is lost to this process, and
// an invalid access may end the process. FailedPrecondition: no run-time on this machine; NotFound: it has no such
// device.
absl::StatusOr<std::unique_ptr<Device>> OpenHipDevice(int index, const std::string& library = kHipLibrary);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HIP_DEVICE_H_
