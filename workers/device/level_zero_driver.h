// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_LEVEL_ZERO_DRIVER_H_
#define WORKERS_DEVICE_LEVEL_ZERO_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// The types and functions of Level Zero that a device needs, found in its loader at run time. Names, values and layouts
// are those of "oneAPI Level Zero Specification", core API 1.2 and later. Each structure begins with its type.
using ZeResult = uint32_t;
using ZeDriverHandle = struct ZeDriverObject*;
using ZeDeviceHandle = struct ZeDeviceObject*;
using ZeContext = struct ZeContextObject*;
using ZeCommandList = struct ZeCommandListObject*;
using ZeEventPool = struct ZeEventPoolObject*;
using ZeEvent = struct ZeEventObject*;
using ZeModule = struct ZeModuleObject*;
using ZeBuildLog = struct ZeBuildLogObject*;
using ZeKernel = struct ZeKernelObject*;

inline constexpr ZeResult kZeDeviceLost = 0x70000001;

struct ZeDriverProperties {
  uint32_t type = 0x1;
  void* next = nullptr;
  uint8_t uuid[16];
  uint32_t version;  // Intel's: major, minor, build in 8, 8 and 16 bits
};
struct ZeDeviceProperties {
  enum Kind : uint32_t { kGpu = 1 };
  uint32_t type = 0x00020006;  // as of 1.2: the timer's resolution in cycles a second
  void* next = nullptr;
  uint32_t kind;
  uint32_t vendor_id;
  uint32_t device_id;
  uint32_t flags;
  uint32_t subdevice_id;
  uint32_t core_clock_mhz;
  uint64_t max_allocation_bytes;
  uint32_t max_hardware_contexts;
  uint32_t max_queue_priority;
  uint32_t threads_per_unit;
  uint32_t unit_simd_width;
  uint32_t units_per_subslice;
  uint32_t subslices_per_slice;
  uint32_t slices;
  uint64_t timer_hertz;
  uint32_t timestamp_bits;
  uint32_t kernel_timestamp_bits;
  uint8_t uuid[16];
  char name[256];
};
static_assert(sizeof(ZeDeviceProperties) == 368, "the specification's layout");
struct ZeComputeProperties {
  uint32_t type = 0x4;
  void* next = nullptr;
  uint32_t max_group_size;
  uint32_t max_group_sizes[3];
  uint32_t max_group_counts[3];
  uint32_t max_shared_bytes;
  uint32_t subgroup_size_count;
  uint32_t subgroup_sizes[8];
};
struct ZeMemoryProperties {
  uint32_t type = 0x7;
  void* next = nullptr;
  uint32_t flags;
  uint32_t clock_mhz;
  uint32_t bus_bits;
  uint64_t bytes;
  char name[256];
};
struct ZeCacheProperties {
  uint32_t type = 0x9;
  void* next = nullptr;
  uint32_t flags;
  size_t bytes;
};
struct ZeContextDesc {
  uint32_t type = 0xd;
  const void* next = nullptr;
  uint32_t flags = 0;
};
struct ZeQueueDesc {
  uint32_t type = 0xe;
  const void* next = nullptr;
  uint32_t ordinal = 0;
  uint32_t index = 0;
  uint32_t flags = 0;
  uint32_t mode = 1;  // synchronous: calls return when what they append has ended
  uint32_t priority = 0;
};
struct ZeEventPoolDesc {
  uint32_t type = 0x10;
  const void* next = nullptr;
  uint32_t flags = 1 | 4;  // the host sees them; kernel timestamps
  uint32_t count = 1;
};
struct ZeEventDesc {
  uint32_t type = 0x11;
  const void* next = nullptr;
  uint32_t index = 0;
  uint32_t signal_scope = 4;  // host
  uint32_t wait_scope = 0;
};
struct ZeDeviceMemoryDesc {
  uint32_t type = 0x15;
  const void* next = nullptr;
  uint32_t flags = 0;
  uint32_t ordinal = 0;
};
struct ZeModuleDesc {
  enum Format : uint32_t { kSpirv = 0, kNative = 1 };
  uint32_t type = 0x1b;
  const void* next = nullptr;
  uint32_t format;
  size_t bytes;
  const uint8_t* module;
  const char* build_flags = nullptr;
  const void* constants = nullptr;
};
struct ZeKernelDesc {
  uint32_t type = 0x1d;
  const void* next = nullptr;
  uint32_t flags = 0;
  const char* name;
};
struct ZeKernelProperties {
  uint32_t type = 0x1e;
  void* next = nullptr;
  uint32_t parameters;
  uint32_t required_group_sizes[3];
  uint32_t required_subgroups;
  uint32_t required_subgroup_size;
  uint32_t max_subgroup_size;
  uint32_t max_subgroups;
  uint32_t shared_bytes;
  uint32_t private_bytes;
  uint32_t spill_bytes;
  uint8_t uuid[32];
};
static_assert(sizeof(ZeKernelProperties) == 96, "the specification's layout");
struct ZeTimestamps {  // in the timer's cycles
  uint64_t global_start, global_end;
  uint64_t context_start, context_end;
};
struct ZeGroupCount {
  uint32_t x, y, z;
};

struct LevelZeroDriver {
  // Opens the loader and starts the drivers for GPUs. FailedPrecondition: there is none, or it does not work here.
  static absl::StatusOr<std::unique_ptr<LevelZeroDriver>> Open(const std::string& library);

  // Ok, or the name of `result`, after `what`; with the code that Device promises.
  absl::Status Check(ZeResult result, absl::string_view what) const;

  ZeResult (*init)(uint32_t flags);
  ZeResult (*driver_get)(uint32_t* count, ZeDriverHandle* drivers);
  ZeResult (*driver_properties)(ZeDriverHandle driver, ZeDriverProperties* properties);
  ZeResult (*device_get)(ZeDriverHandle driver, uint32_t* count, ZeDeviceHandle* devices);
  ZeResult (*device_properties)(ZeDeviceHandle device, ZeDeviceProperties* properties);
  ZeResult (*compute_properties)(ZeDeviceHandle device, ZeComputeProperties* properties);
  ZeResult (*memory_properties)(ZeDeviceHandle device, uint32_t* count, ZeMemoryProperties* properties);
  ZeResult (*cache_properties)(ZeDeviceHandle device, uint32_t* count, ZeCacheProperties* properties);
  ZeResult (*context_create)(ZeDriverHandle driver, const ZeContextDesc* desc, ZeContext* context);
  ZeResult (*context_destroy)(ZeContext context);
  ZeResult (*list_create)(ZeContext context, ZeDeviceHandle device, const ZeQueueDesc* desc, ZeCommandList* list);
  ZeResult (*list_destroy)(ZeCommandList list);
  ZeResult (*append_copy)(ZeCommandList list, void* to, const void* from, size_t bytes, ZeEvent signal,
                          uint32_t wait_count, ZeEvent* waits);
  ZeResult (*append_fill)(ZeCommandList list, void* to, const void* pattern, size_t pattern_bytes, size_t bytes,
                          ZeEvent signal, uint32_t wait_count, ZeEvent* waits);
  ZeResult (*append_launch)(ZeCommandList list, ZeKernel kernel, const ZeGroupCount* groups, ZeEvent signal,
                            uint32_t wait_count, ZeEvent* waits);
  ZeResult (*append_cooperative_launch)(ZeCommandList list, ZeKernel kernel, const ZeGroupCount* groups, ZeEvent signal,
                                        uint32_t wait_count, ZeEvent* waits);
  ZeResult (*event_pool_create)(ZeContext context, const ZeEventPoolDesc* desc, uint32_t device_count,
                                ZeDeviceHandle* devices, ZeEventPool* pool);
  ZeResult (*event_pool_destroy)(ZeEventPool pool);
  ZeResult (*event_create)(ZeEventPool pool, const ZeEventDesc* desc, ZeEvent* event);
  ZeResult (*event_destroy)(ZeEvent event);
  ZeResult (*event_synchronize)(ZeEvent event, uint64_t timeout_ns);
  ZeResult (*event_reset)(ZeEvent event);
  ZeResult (*event_timestamps)(ZeEvent event, ZeTimestamps* timestamps);
  ZeResult (*memory_allocate)(ZeContext context, const ZeDeviceMemoryDesc* desc, size_t bytes, size_t alignment,
                              ZeDeviceHandle device, void** pointer);
  ZeResult (*memory_free)(ZeContext context, void* pointer);
  ZeResult (*module_create)(ZeContext context, ZeDeviceHandle device, const ZeModuleDesc* desc, ZeModule* module,
                            ZeBuildLog* log);
  ZeResult (*module_destroy)(ZeModule module);
  ZeResult (*log_text)(ZeBuildLog log, size_t* bytes, char* text);
  ZeResult (*log_destroy)(ZeBuildLog log);
  ZeResult (*kernel_create)(ZeModule module, const ZeKernelDesc* desc, ZeKernel* kernel);
  ZeResult (*kernel_destroy)(ZeKernel kernel);
  ZeResult (*kernel_group_size)(ZeKernel kernel, uint32_t x, uint32_t y, uint32_t z);
  // With a null `value`: a null pointer, or shared memory of this size.
  ZeResult (*kernel_argument)(ZeKernel kernel, uint32_t index, size_t bytes, const void* value);
  ZeResult (*kernel_properties)(ZeKernel kernel, ZeKernelProperties* properties);

 private:
  LevelZeroDriver() = default;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_LEVEL_ZERO_DRIVER_H_
