// SPDX-License-Identifier: Apache-2.0
#include "workers/device/opencl_driver.h"

#include <type_traits>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "workers/device/driver_library.h"

namespace tritond::workers {
namespace {

struct Meaning {
  ClResult result;
  const char* name;
  absl::StatusCode code;
};

constexpr Meaning kMeanings[] = {
    {kClDeviceNotFound, "DEVICE_NOT_FOUND", absl::StatusCode::kFailedPrecondition},
    {-2, "the device is lost, DEVICE_NOT_AVAILABLE", absl::StatusCode::kInternal},
    {-4, "MEM_OBJECT_ALLOCATION_FAILURE", absl::StatusCode::kResourceExhausted},
    {kClOutOfResources, "OUT_OF_RESOURCES", absl::StatusCode::kResourceExhausted},
    {-6, "OUT_OF_HOST_MEMORY", absl::StatusCode::kResourceExhausted},
    {-11, "BUILD_PROGRAM_FAILURE", absl::StatusCode::kInvalidArgument},
    {-14, "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", absl::StatusCode::kInternal},
    {-30, "INVALID_VALUE", absl::StatusCode::kInvalidArgument},
    {-42, "INVALID_BINARY", absl::StatusCode::kInvalidArgument},
    {-44, "INVALID_PROGRAM", absl::StatusCode::kInvalidArgument},
    {-45, "INVALID_PROGRAM_EXECUTABLE", absl::StatusCode::kInvalidArgument},
    {-46, "INVALID_KERNEL_NAME", absl::StatusCode::kInvalidArgument},
    {-49, "INVALID_ARG_INDEX", absl::StatusCode::kInvalidArgument},
    {-50, "INVALID_ARG_VALUE", absl::StatusCode::kInvalidArgument},
    {-51, "INVALID_ARG_SIZE", absl::StatusCode::kInvalidArgument},
    {-52, "INVALID_KERNEL_ARGS", absl::StatusCode::kInvalidArgument},
    {-54, "INVALID_WORK_GROUP_SIZE", absl::StatusCode::kInvalidArgument},
    {-55, "INVALID_WORK_ITEM_SIZE", absl::StatusCode::kInvalidArgument},
    {-59, "INVALID_OPERATION", absl::StatusCode::kInvalidArgument},
    {-61, "INVALID_BUFFER_SIZE", absl::StatusCode::kResourceExhausted},
    {-63, "INVALID_GLOBAL_WORK_SIZE", absl::StatusCode::kInvalidArgument},
    {-1001, "no driver is installed, PLATFORM_NOT_FOUND", absl::StatusCode::kFailedPrecondition},
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenClDriver>> OpenClDriver::Open(const std::string& library) {
  absl::StatusOr<DriverLibrary> opened = DriverLibrary::Open("OpenCL loader", library);
  if (!opened.ok()) return opened.status();
  auto driver = absl::WrapUnique(new OpenClDriver());
  opened->Find("clGetPlatformIDs", driver->platform_ids);
  opened->Find("clGetDeviceIDs", driver->device_ids);
  opened->Find("clGetDeviceInfo", driver->device_info);
  opened->Find("clCreateContext", driver->context_create);
  opened->Find("clReleaseContext", driver->context_release);
  opened->Find("clCreateCommandQueueWithProperties", driver->queue_create);
  opened->Find("clReleaseCommandQueue", driver->queue_release);
  opened->Find("clCreateProgramWithIL", driver->program_of_il);
  opened->Find("clCreateProgramWithBinary", driver->program_of_binary);
  opened->Find("clBuildProgram", driver->program_build);
  opened->Find("clGetProgramBuildInfo", driver->program_build_info);
  opened->Find("clReleaseProgram", driver->program_release);
  opened->Find("clCreateKernel", driver->kernel_create);
  opened->Find("clReleaseKernel", driver->kernel_release);
  opened->Find("clGetKernelInfo", driver->kernel_info);
  opened->Find("clGetKernelWorkGroupInfo", driver->kernel_group_info);
  opened->Find("clSetKernelArg", driver->kernel_argument);
  opened->Find("clEnqueueNDRangeKernel", driver->launch);
  opened->Find("clFinish", driver->finish);
  opened->Find("clGetEventProfilingInfo", driver->event_time);
  opened->Find("clReleaseEvent", driver->event_release);
  opened->Find("clGetExtensionFunctionAddressForPlatform", driver->extension_function);
  if (absl::Status complete = opened->Complete("OpenCL 2.1"); !complete.ok()) return complete;
  return driver;
}

bool OpenClDriver::FindExtension(ClPlatform platform) {
  bool all = true;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(extension_function(platform, name));
    all &= function != nullptr;
  };
  find("clDeviceMemAllocINTEL", memory_allocate);
  find("clMemFreeINTEL", memory_free);
  find("clSetKernelArgMemPointerINTEL", kernel_pointer);
  find("clEnqueueMemcpyINTEL", copy);
  find("clEnqueueMemFillINTEL", fill);
  return all;
}

absl::Status OpenClDriver::Check(ClResult result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  for (const Meaning& meaning : kMeanings) {
    if (meaning.result == result)
      return absl::Status(meaning.code, absl::StrCat(what, ": ", meaning.name, " (", result, ")"));
  }
  return absl::InternalError(absl::StrCat(what, ": OpenCL error ", result));
}

}  // namespace tritond::workers
