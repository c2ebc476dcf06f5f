// SPDX-License-Identifier: Apache-2.0
#include "workers/device/hip_driver.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "workers/device/driver_library.h"

namespace tritond::workers {
namespace {

absl::StatusCode CodeOf(HipResult result) {
  switch (result) {
    case 2:    // out of memory
    case 701:  // launch out of resources
    case 720:  // cooperative launch too large
      return absl::StatusCode::kResourceExhausted;
    case 1:    // invalid value
    case 98:   // invalid device function
    case 200:  // invalid image
    case 209:  // no binary for this GPU
    case 218:  // invalid kernel file
    case 300:  // invalid source
    case 303:  // shared object failed to initialise
    case 500:  // not found
    case 700:  // illegal address
      return absl::StatusCode::kInvalidArgument;
    case 710:  // assertion
      return absl::StatusCode::kAborted;
    case 702:  // launch timeout
      return absl::StatusCode::kDeadlineExceeded;
    case 3:    // not initialised
    case 35:   // driver too old
    case 100:  // no device
      return absl::StatusCode::kFailedPrecondition;
    case 101:  // invalid device
      return absl::StatusCode::kNotFound;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HipDriver>> HipDriver::Open(const std::string& library) {
  absl::StatusOr<DriverLibrary> opened = DriverLibrary::Open("HIP run-time", library);
  if (!opened.ok()) return opened.status();
  auto driver = absl::WrapUnique(new HipDriver());
  opened->Find("hipInit", driver->init);
  opened->Find("hipDriverGetVersion", driver->driver_version);
  opened->Find("hipGetDeviceCount", driver->device_count);
  opened->Find("hipGetDevicePropertiesR0600", driver->device_properties);
  opened->Find("hipDeviceGetAttribute", driver->device_attribute);
  opened->Find("hipDeviceTotalMem", driver->device_memory);
  opened->Find("hipSetDevice", driver->device_set);
  opened->Find("hipDeviceSynchronize", driver->device_synchronize);
  opened->Find("hipMalloc", driver->memory_allocate);
  opened->Find("hipFree", driver->memory_free);
  opened->Find("hipMemcpyHtoD", driver->copy_in);
  opened->Find("hipMemcpyDtoH", driver->copy_out);
  opened->Find("hipHostRegister", driver->host_register);
  opened->Find("hipHostUnregister", driver->host_unregister);
  opened->Find("hipMemsetD8", driver->memory_set);
  opened->Find("hipModuleLoadData", driver->module_load);
  opened->Find("hipModuleUnload", driver->module_unload);
  opened->Find("hipModuleGetFunction", driver->module_function);
  opened->Find("hipFuncGetAttribute", driver->function_get);
  opened->Find("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", driver->occupancy);
  opened->Find("hipModuleLaunchKernel", driver->launch);
  opened->Find("hipModuleLaunchCooperativeKernel", driver->launch_cooperative);
  opened->Find("hipEventCreate", driver->event_create);
  opened->Find("hipEventDestroy", driver->event_destroy);
  opened->Find("hipEventRecord", driver->event_record);
  opened->Find("hipEventElapsedTime", driver->event_elapsed);
  opened->Find("hipGetErrorName", driver->error_name);
  opened->Find("hipGetErrorString", driver->error_text);
  if (absl::Status complete = opened->Complete("ROCm 6.0"); !complete.ok()) return complete;
  if (absl::Status status = driver->Check(driver->init(0), "start the HIP run-time"); !status.ok())
    return absl::FailedPreconditionError(status.message());
  return driver;
}

absl::Status HipDriver::Check(HipResult result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  return absl::Status(CodeOf(result),
                      absl::StrCat(what, ": ", error_text(result), " (", error_name(result), ", ", result, ")"));
}

}  // namespace tritond::workers
