// SPDX-License-Identifier: Apache-2.0
#include "workers/device/cuda_driver.h"

#include <dlfcn.h>

#include <type_traits>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

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
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return absl::FailedPreconditionError(absl::StrCat("no CUDA driver: ", dlerror()));
  auto driver = absl::WrapUnique(new CudaDriver());
  driver->library_ = handle;
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    using Function = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find("cuInit", driver->init);
  find("cuDriverGetVersion", driver->driver_version);
  find("cuDeviceGetCount", driver->device_count);
  find("cuDeviceGet", driver->device_get);
  find("cuDeviceGetName", driver->device_name);
  find("cuDeviceGetAttribute", driver->device_attribute);
  find("cuDeviceTotalMem_v2", driver->device_memory);
  find("cuDeviceGetPCIBusId", driver->device_bus_id);
  find("cuDevicePrimaryCtxRetain", driver->context_retain);
  find("cuDevicePrimaryCtxRelease_v2", driver->context_release);
  find("cuCtxSetCurrent", driver->context_set);
  find("cuCtxSynchronize", driver->context_synchronize);
  find("cuMemAlloc_v2", driver->memory_allocate);
  find("cuMemFree_v2", driver->memory_free);
  find("cuMemcpyHtoD_v2", driver->copy_in);
  find("cuMemcpyDtoH_v2", driver->copy_out);
  find("cuMemHostRegister_v2", driver->host_register);
  find("cuMemHostUnregister", driver->host_unregister);
  find("cuMemsetD8_v2", driver->memory_set);
  find("cuModuleLoadDataEx", driver->module_load);
  find("cuModuleUnload", driver->module_unload);
  find("cuModuleGetFunction", driver->module_function);
  find("cuFuncGetAttribute", driver->function_get);
  find("cuFuncSetAttribute", driver->function_set);
  find("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver->occupancy);
  find("cuLaunchKernelEx", driver->launch);
  find("cuEventCreate", driver->event_create);
  find("cuEventDestroy_v2", driver->event_destroy);
  find("cuEventRecord", driver->event_record);
  find("cuEventSynchronize", driver->event_synchronize);
  find("cuEventElapsedTime", driver->event_elapsed);
  find("cuGetErrorName", driver->error_name);
  find("cuGetErrorString", driver->error_text);
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA driver in ", library, " is too old: it has no ", missing, " (CUDA 11.8 and later do)"));
  }
  if (absl::Status status = driver->Check(driver->init(0), "start the CUDA driver"); !status.ok()) {
    return absl::FailedPreconditionError(status.message());
  }
  return driver;
}

CudaDriver::~CudaDriver() {
  if (library_ != nullptr) dlclose(library_);
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
