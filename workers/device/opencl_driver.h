// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_OPENCL_DRIVER_H_
#define WORKERS_DEVICE_OPENCL_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// The types and functions of OpenCL that a device needs, found in its ICD loader at run time. Names, values and layouts
// are those of "The OpenCL Specification" 2.1 and later, and of its extension cl_intel_unified_shared_memory 1.0.
using ClResult = int32_t;
using ClPlatform = struct ClPlatformObject*;
using ClDeviceId = struct ClDeviceObject*;
using ClContext = struct ClContextObject*;
using ClQueue = struct ClQueueObject*;
using ClProgram = struct ClProgramObject*;
using ClKernel = struct ClKernelObject*;
using ClEvent = struct ClEventObject*;

inline constexpr ClResult kClDeviceNotFound = -1;
inline constexpr ClResult kClOutOfResources = -5;

struct OpenClDriver {
  enum DeviceInfo : uint32_t {
    kTypes = 0x1000,
    kMaxGroupSize = 0x1004,
    kClockMhz = 0x100C,
    kCacheBytes = 0x101E,
    kMemoryBytes = 0x101F,
    kLocalBytes = 0x1023,
    kName = 0x102B,
    kDriverVersion = 0x102D,
    kExtensions = 0x1030,
    kF64 = 0x1032,
    kIlVersion = 0x105B,
    kSubgroupSizes = 0x4108,  // cl_intel_required_subgroup_size
    kPciDeviceId = 0x4251     // cl_intel_device_attribute_query
  };
  enum OtherInfo : uint32_t {
    kBuildLog = 0x1183,
    kParameterCount = 0x1191,    // of a kernel
    kKernelLocalBytes = 0x11B2,  // of a kernel on a device
    kKernelSpillBytes = 0x4109,  // cl_intel_required_subgroup_size
    kQueueProperties = 0x1093,
    kStarted = 0x1282,  // of an event, in nanoseconds
    kEnded = 0x1283
  };
  static constexpr uint64_t kAllDevices = 0xFFFFFFFF;
  static constexpr uint64_t kGpu = 4;
  static constexpr uint64_t kProfiling = 2;

  // Opens the loader. FailedPrecondition: there is none.
  static absl::StatusOr<std::unique_ptr<OpenClDriver>> Open(const std::string& library);
  // Finds the functions of the extension. False: the platform has none.
  bool FindExtension(ClPlatform platform);

  // Ok, or the name of `result`, after `what`; with the code that Device promises.
  absl::Status Check(ClResult result, absl::string_view what) const;

  ClResult (*platform_ids)(uint32_t most, ClPlatform* platforms, uint32_t* count);
  ClResult (*device_ids)(ClPlatform platform, uint64_t types, uint32_t most, ClDeviceId* devices, uint32_t* count);
  ClResult (*device_info)(ClDeviceId device, uint32_t name, size_t most, void* value, size_t* bytes);
  ClContext (*context_create)(const intptr_t* properties, uint32_t count, const ClDeviceId* devices,
                              void (*notify)(const char*, const void*, size_t, void*), void* data, ClResult* result);
  ClResult (*context_release)(ClContext context);
  ClQueue (*queue_create)(ClContext context, ClDeviceId device, const uint64_t* properties, ClResult* result);
  ClResult (*queue_release)(ClQueue queue);
  ClProgram (*program_of_il)(ClContext context, const void* il, size_t bytes, ClResult* result);
  ClProgram (*program_of_binary)(ClContext context, uint32_t count, const ClDeviceId* devices, const size_t* bytes,
                                 const unsigned char** binaries, ClResult* states, ClResult* result);
  ClResult (*program_build)(ClProgram program, uint32_t count, const ClDeviceId* devices, const char* options,
                            void (*notify)(ClProgram, void*), void* data);
  ClResult (*program_build_info)(ClProgram program, ClDeviceId device, uint32_t name, size_t most, void* value,
                                 size_t* bytes);
  ClResult (*program_release)(ClProgram program);
  ClKernel (*kernel_create)(ClProgram program, const char* name, ClResult* result);
  ClResult (*kernel_release)(ClKernel kernel);
  ClResult (*kernel_info)(ClKernel kernel, uint32_t name, size_t most, void* value, size_t* bytes);
  ClResult (*kernel_group_info)(ClKernel kernel, ClDeviceId device, uint32_t name, size_t most, void* value,
                                size_t* bytes);
  // With a null `value`: local memory of this size.
  ClResult (*kernel_argument)(ClKernel kernel, uint32_t index, size_t bytes, const void* value);
  ClResult (*launch)(ClQueue queue, ClKernel kernel, uint32_t dimensions, const size_t* offset, const size_t* global,
                     const size_t* local, uint32_t wait_count, const ClEvent* waits, ClEvent* event);
  ClResult (*finish)(ClQueue queue);
  ClResult (*event_time)(ClEvent event, uint32_t name, size_t most, void* value, size_t* bytes);
  ClResult (*event_release)(ClEvent event);
  void* (*extension_function)(ClPlatform platform, const char* name);

  // cl_intel_unified_shared_memory
  void* (*memory_allocate)(ClContext context, ClDeviceId device, const uint64_t* properties, size_t bytes,
                           uint32_t alignment, ClResult* result);
  ClResult (*memory_free)(ClContext context, void* pointer);
  ClResult (*kernel_pointer)(ClKernel kernel, uint32_t index, const void* value);
  ClResult (*copy)(ClQueue queue, uint32_t blocking, void* to, const void* from, size_t bytes, uint32_t wait_count,
                   const ClEvent* waits, ClEvent* event);
  ClResult (*fill)(ClQueue queue, void* to, const void* pattern, size_t pattern_bytes, size_t bytes,
                   uint32_t wait_count, const ClEvent* waits, ClEvent* event);

 private:
  OpenClDriver() = default;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_OPENCL_DRIVER_H_
