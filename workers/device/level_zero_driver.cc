// SPDX-License-Identifier: Apache-2.0
#include "workers/device/level_zero_driver.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "workers/device/driver_library.h"

namespace tritond::workers {
namespace {

constexpr uint32_t kGpuOnly = 1;

struct Meaning {
  ZeResult result;
  const char* name;
  absl::StatusCode code;
};

constexpr Meaning kMeanings[] = {
    {kZeDeviceLost, "the device is lost, DEVICE_LOST", absl::StatusCode::kInternal},
    {0x70000002, "OUT_OF_HOST_MEMORY", absl::StatusCode::kResourceExhausted},
    {0x70000003, "OUT_OF_DEVICE_MEMORY", absl::StatusCode::kResourceExhausted},
    {0x70000004, "MODULE_BUILD_FAILURE", absl::StatusCode::kInvalidArgument},
    {0x70000005, "MODULE_LINK_FAILURE", absl::StatusCode::kInvalidArgument},
    {0x70000006, "DEVICE_REQUIRES_RESET", absl::StatusCode::kInternal},
    {0x70010000, "INSUFFICIENT_PERMISSIONS", absl::StatusCode::kFailedPrecondition},
    {0x70020000, "DEPENDENCY_UNAVAILABLE", absl::StatusCode::kFailedPrecondition},
    {0x78000001, "no driver finds a GPU, UNINITIALIZED", absl::StatusCode::kFailedPrecondition},
    {0x78000002, "UNSUPPORTED_VERSION", absl::StatusCode::kFailedPrecondition},
    {0x78000003, "UNSUPPORTED_FEATURE", absl::StatusCode::kFailedPrecondition},
    {0x78000004, "INVALID_ARGUMENT", absl::StatusCode::kInvalidArgument},
    {0x78000008, "INVALID_SIZE", absl::StatusCode::kInvalidArgument},
    {0x78000009, "UNSUPPORTED_SIZE", absl::StatusCode::kResourceExhausted},
    {0x7800000f, "INVALID_NATIVE_BINARY", absl::StatusCode::kInvalidArgument},
    {0x78000011, "INVALID_KERNEL_NAME", absl::StatusCode::kInvalidArgument},
    {0x78000013, "INVALID_GROUP_SIZE_DIMENSION", absl::StatusCode::kInvalidArgument},
    {0x78000014, "INVALID_GLOBAL_WIDTH_DIMENSION", absl::StatusCode::kInvalidArgument},
    {0x78000015, "INVALID_KERNEL_ARGUMENT_INDEX", absl::StatusCode::kInvalidArgument},
    {0x78000016, "INVALID_KERNEL_ARGUMENT_SIZE", absl::StatusCode::kInvalidArgument},
    {0x78000018, "INVALID_MODULE_UNLINKED", absl::StatusCode::kInvalidArgument},
};

}  // namespace

absl::StatusOr<std::unique_ptr<LevelZeroDriver>> LevelZeroDriver::Open(const std::string& library) {
  absl::StatusOr<DriverLibrary> opened = DriverLibrary::Open("Level Zero loader", library);
  if (!opened.ok()) return opened.status();
  auto driver = absl::WrapUnique(new LevelZeroDriver());
  opened->Find("zeInit", driver->init);
  opened->Find("zeDriverGet", driver->driver_get);
  opened->Find("zeDriverGetProperties", driver->driver_properties);
  opened->Find("zeDeviceGet", driver->device_get);
  opened->Find("zeDeviceGetProperties", driver->device_properties);
  opened->Find("zeDeviceGetComputeProperties", driver->compute_properties);
  opened->Find("zeDeviceGetMemoryProperties", driver->memory_properties);
  opened->Find("zeDeviceGetCacheProperties", driver->cache_properties);
  opened->Find("zeContextCreate", driver->context_create);
  opened->Find("zeContextDestroy", driver->context_destroy);
  opened->Find("zeCommandListCreateImmediate", driver->list_create);
  opened->Find("zeCommandListDestroy", driver->list_destroy);
  opened->Find("zeCommandListAppendMemoryCopy", driver->append_copy);
  opened->Find("zeCommandListAppendMemoryFill", driver->append_fill);
  opened->Find("zeCommandListAppendLaunchKernel", driver->append_launch);
  opened->Find("zeCommandListAppendLaunchCooperativeKernel", driver->append_cooperative_launch);
  opened->Find("zeEventPoolCreate", driver->event_pool_create);
  opened->Find("zeEventPoolDestroy", driver->event_pool_destroy);
  opened->Find("zeEventCreate", driver->event_create);
  opened->Find("zeEventDestroy", driver->event_destroy);
  opened->Find("zeEventHostSynchronize", driver->event_synchronize);
  opened->Find("zeEventHostReset", driver->event_reset);
  opened->Find("zeEventQueryKernelTimestamp", driver->event_timestamps);
  opened->Find("zeMemAllocDevice", driver->memory_allocate);
  opened->Find("zeMemFree", driver->memory_free);
  opened->Find("zeModuleCreate", driver->module_create);
  opened->Find("zeModuleDestroy", driver->module_destroy);
  opened->Find("zeModuleBuildLogGetString", driver->log_text);
  opened->Find("zeModuleBuildLogDestroy", driver->log_destroy);
  opened->Find("zeKernelCreate", driver->kernel_create);
  opened->Find("zeKernelDestroy", driver->kernel_destroy);
  opened->Find("zeKernelSetGroupSize", driver->kernel_group_size);
  opened->Find("zeKernelSetArgumentValue", driver->kernel_argument);
  opened->Find("zeKernelGetProperties", driver->kernel_properties);
  if (absl::Status complete = opened->Complete("Level Zero 1.2"); !complete.ok()) return complete;
  if (absl::Status status = driver->Check(driver->init(kGpuOnly), "start Level Zero"); !status.ok())
    return absl::FailedPreconditionError(status.message());
  return driver;
}

absl::Status LevelZeroDriver::Check(ZeResult result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const std::string number = absl::StrCat("0x", absl::Hex(result));
  for (const Meaning& meaning : kMeanings) {
    if (meaning.result == result)
      return absl::Status(meaning.code, absl::StrCat(what, ": ", meaning.name, " (", number, ")"));
  }
  return absl::InternalError(absl::StrCat(what, ": Level Zero error ", number));
}

}  // namespace tritond::workers
