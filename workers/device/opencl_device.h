// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_OPENCL_DEVICE_H_
#define WORKERS_DEVICE_OPENCL_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The usual library of the OpenCL loader.
inline constexpr char kOpenClLibrary[] = "libOpenCL.so.1";

// How many devices can run kernels: they take SPIR-V, and have sub-groups of 16 (cl_intel_required_subgroup_size) and
// cl_intel_unified_shared_memory. The loader counts others too. FailedPrecondition: there is no loader, or none of its
// devices can; the message names what each lacks.
absl::StatusOr<int> CountOpenClDevices(const std::string& library = kOpenClLibrary);

// Device `index` of those. Takes SPIR-V, and the device's own binaries. A kernel's shared memory is its last parameter.
// FailedPrecondition as above; NotFound: there is no such device.
absl::StatusOr<std::unique_ptr<Device>> OpenOpenClDevice(int index, const std::string& library = kOpenClLibrary);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_OPENCL_DEVICE_H_
