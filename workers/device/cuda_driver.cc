// SPDX-License-Identifier: Apache-2.0
#include "workers/device/cuda_driver.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "workers/device/driver_library.h"

namespace tritond::workers {
namespace {

absl::StatusCode CodeOf(CudaResult result) {
  switch (result) {
    case 2:    // out of memory
    case 701:  // launch out of resources
    case 720:  // cooperative launch too large
      return absl::StatusCode::kResourceExhausted;
    case 1:    // invalid value
    case 200:  // invalid image
    case 209:  // no binary for this GPU
    case 218:  // invalid PTX
    case 222:  // unsupported PTX version
    case 500:  // not found
    case 700:  // illegal address
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
      return absl::StatusCode::kInvalidArgument;
    case 710:  // assertion
      return absl::StatusCode::kAborted;
    case 702:  // launch timeout
      return absl::StatusCode::kDeadlineExceeded;
    case 34:   // stub library
    case 100:  // no device
    case 803:  // driver mismatch
    case 804:  // compatibility mode not supported
      return absl::StatusCode::kFailedPrecondition;
    case 101:  // invalid device
      return absl::StatusCode::kNotFound;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDriver>> CudaDriver::Open(const std::string& library) {
  absl::StatusOr<DriverLibrary> opened = DriverLibrary::Open("CUDA driver", library);
  if (!opened.ok()) return opened.status();
  auto driver = absl::WrapUnique(new CudaDriver());
  opened->Find("cuInit", driver->init);
  opened->Find("cuDriverGetVersion", driver->driver_version);
  opened->Find("cuDeviceGetCount", driver->device_count);
  opened->Find("cuDeviceGet", driver->device_get);
  opened->Find("cuDeviceGetName", driver->device_name);
  opened->Find("cuDeviceGetAttribute", driver->device_attribute);
  opened->Find("cuDeviceTotalMem_v2", driver->device_memory);
  opened->Find("cuDeviceGetPCIBusId", driver->device_bus_id);
  opened->Find("cuDevicePrimaryCtxRetain", driver->context_retain);
  opened->Find("cuDevicePrimaryCtxRelease_v2", driver->context_release);
  opened->Find("cuCtxSetCurrent", driver->context_set);
  opened->Find("cuCtxSynchronize", driver->context_synchronize);
  opened->Find("cuMemAlloc_v2", driver->memory_allocate);
  opened->Find("cuMemFree_v2", driver->memory_free);
  opened->Find("cuMemcpyHtoD_v2", driver->copy_in);
  opened->Find("cuMemcpyDtoH_v2", driver->copy_out);
  opened->Find("cuMemHostRegister_v2", driver->host_register);
  opened->Find("cuMemHostUnregister", driver->host_unregister);
  opened->Find("cuMemsetD8_v2", driver->memory_set);
  opened->Find("cuModuleLoadDataEx", driver->module_load);
  opened->Find("cuModuleUnload", driver->module_unload);
  opened->Find("cuModuleGetFunction", driver->module_function);
  opened->Find("cuFuncGetAttribute", driver->function_get);
  opened->Find("cuFuncSetAttribute", driver->function_set);
  opened->Find("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver->occupancy);
  opened->Find("cuLaunchKernelEx", driver->launch);
  opened->FindIfThere("cuTensorMapEncodeTiled", driver->tensor_map);
  opened->Find("cuEventCreate", driver->event_create);
  opened->Find("cuEventDestroy_v2", driver->event_destroy);
  opened->Find("cuEventRecord", driver->event_record);
  opened->Find("cuEventElapsedTime", driver->event_elapsed);
  opened->Find("cuGetErrorName", driver->error_name);
  opened->Find("cuGetErrorString", driver->error_text);
  if (absl::Status complete = opened->Complete("CUDA 11.8"); !complete.ok()) return complete;
  if (absl::Status status = driver->Check(driver->init(0), "start the CUDA driver"); !status.ok()) {
    return absl::FailedPreconditionError(status.message());
  }
  return driver;
}

absl::Status CudaDriver::Check(CudaResult result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(result, &name) != 0 || name == nullptr) name = "unknown error";
  if (error_text(result, &text) != 0 || text == nullptr) text = "no description";
  return absl::Status(CodeOf(result), absl::StrCat(what, ": ", text, " (", name, ", ", result, ")"));
}

}  // namespace tritond::workers
