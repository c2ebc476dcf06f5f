// SPDX-License-Identifier: Apache-2.0
// A Level Zero loader with one driver and one GPU (fake_gpu.h), a Ponte Vecchio. Timestamps have 32 bits, and begin
// again at 0 soon.
#include <cstring>
#include <map>
#include <vector>

#include "workers/device/fake_gpu.h"
#include "workers/device/level_zero_driver.h"

namespace {

using namespace tritond;
using namespace tritond::workers;

enum Result : ZeResult {
  kOutOfDeviceMemory = 0x70000003,
  kBuildFailure = 0x70000004,
  kUninitialized = 0x78000001,
  kInvalidArgument = 0x78000004,
  kUnsupportedSize = 0x78000009,
  kInvalidNativeBinary = 0x7800000f,
  kInvalidKernelName = 0x78000011,
  kInvalidGroupSize = 0x78000013,
  kInvalidArgumentIndex = 0x78000015,
  kInvalidArgumentSize = 0x78000016
};

constexpr uint64_t kHertz = 20000000;
// After two fills of 2000 cycles and a launch of 100, the clock begins again within the next launch.
constexpr uint64_t kFirstTick = UINT32_MAX - 4150;

struct Event {
  bool signalled = false;
  ZeTimestamps stamps = {};
};

struct Module {
  bool has_large_registers = false;
};

struct Kernel {
  fake_gpu::Launch launch;
  uint32_t spill_bytes = 2048;
  std::vector<bool> is_set;
};

using fake_gpu::gpu;
using fake_gpu::objects;
bool started = false;

ZeResult ResultOf(fake_gpu::Fault fault) { return fault == fake_gpu::Fault::kNone ? 0 : kZeDeviceLost; }

uint64_t Tick() { return (kFirstTick + gpu.now_ns() * kHertz / 1000000000) & UINT32_MAX; }

template <typename Handle>
ZeResult Make(Handle* handle, void* object) {
  ++objects;
  *handle = reinterpret_cast<Handle>(object);
  return 0;
}

ZeResult Drop() { return --objects, 0; }

}  // namespace

extern "C" {

ZeResult zeInit(uint32_t flags) {
  if (flags != 1 || !gpu.IsPresent()) return kUninitialized;
  started = true;
  return 0;
}
ZeResult zeDriverGet(uint32_t* count, ZeDriverHandle* drivers) {
  if (!started) return kUninitialized;
  if (*count > 0) drivers[0] = reinterpret_cast<ZeDriverHandle>(&gpu);
  *count = 1;
  return 0;
}
ZeResult zeDriverGetProperties(ZeDriverHandle, ZeDriverProperties* properties) {
  properties->version = 1 << 24 | 3 << 16 | 24595;
  return properties->type == 0x1 ? 0 : kInvalidArgument;
}
ZeResult zeDeviceGet(ZeDriverHandle, uint32_t* count, ZeDeviceHandle* devices) {
  if (*count > 0) devices[0] = reinterpret_cast<ZeDeviceHandle>(&gpu);
  *count = 1;
  return 0;
}
ZeResult zeDeviceGetProperties(ZeDeviceHandle, ZeDeviceProperties* properties) {
  if (properties->type != 0x00020006) return kInvalidArgument;
  properties->kind = ZeDeviceProperties::kGpu;
  properties->device_id = 0x0bd5;
  properties->core_clock_mhz = 1600;
  properties->timer_hertz = kHertz;
  properties->kernel_timestamp_bits = 32;
  std::strcpy(properties->name, "Fake Ponte Vecchio");
  return 0;
}
ZeResult zeDeviceGetComputeProperties(ZeDeviceHandle, ZeComputeProperties* properties) {
  properties->max_group_size = 1024;
  properties->max_shared_bytes = fake_gpu::kSharedBytes;
  return properties->type == 0x4 ? 0 : kInvalidArgument;
}
ZeResult zeDeviceGetMemoryProperties(ZeDeviceHandle, uint32_t* count, ZeMemoryProperties* properties) {
  if (*count > 0 && properties->type != 0x7) return kInvalidArgument;
  if (*count > 0) properties->bytes = fake_gpu::kMemoryBytes;
  *count = 1;
  return 0;
}
ZeResult zeDeviceGetCacheProperties(ZeDeviceHandle, uint32_t* count, ZeCacheProperties* properties) {
  if (*count > 0 && properties->type != 0x9) return kInvalidArgument;
  if (*count > 0) properties->bytes = fake_gpu::kCacheBytes;
  *count = 1;
  return 0;
}
ZeResult zeContextCreate(ZeDriverHandle, const ZeContextDesc* desc, ZeContext* context) {
  return desc->type == 0xd ? Make(context, &gpu) : kInvalidArgument;
}
ZeResult zeContextDestroy(ZeContext) { return Drop(); }
ZeResult zeCommandListCreateImmediate(ZeContext, ZeDeviceHandle, const ZeQueueDesc* desc, ZeCommandList* list) {
  return desc->type == 0xe && desc->mode == 1 ? Make(list, &gpu) : kInvalidArgument;
}
ZeResult zeCommandListDestroy(ZeCommandList) { return Drop(); }
ZeResult zeCommandListAppendMemoryCopy(ZeCommandList, void* to, const void* from, size_t bytes, ZeEvent, uint32_t,
                                       ZeEvent*) {
  return ResultOf(gpu.Copy(to, from, bytes));
}
ZeResult zeCommandListAppendMemoryFill(ZeCommandList, void* to, const void* pattern, size_t pattern_bytes, size_t bytes,
                                       ZeEvent, uint32_t, ZeEvent*) {
  if (pattern_bytes != 1) return kInvalidArgument;
  return ResultOf(gpu.Fill(to, *static_cast<const char*>(pattern), bytes));
}
ZeResult zeCommandListAppendLaunchKernel(ZeCommandList, ZeKernel handle, const ZeGroupCount* groups, ZeEvent signal,
                                         uint32_t, ZeEvent*) {
  auto& kernel = *reinterpret_cast<Kernel*>(handle);
  for (const bool is_set : kernel.is_set) {
    if (!is_set) return kInvalidArgument;
  }
  kernel.launch.grid[0] = groups->x;
  kernel.launch.grid[1] = groups->y;
  kernel.launch.grid[2] = groups->z;
  auto* event = reinterpret_cast<Event*>(signal);
  if (event != nullptr && event->signalled) return kInvalidArgument;  // it was not reset
  const uint64_t start = Tick();
  const ZeResult result = ResultOf(gpu.Run(kernel.launch));
  if (event != nullptr) *event = {true, {start, Tick(), 0, 0}};
  return result;
}
ZeResult zeCommandListAppendLaunchCooperativeKernel(ZeCommandList list, ZeKernel kernel, const ZeGroupCount* groups,
                                                    ZeEvent signal, uint32_t count, ZeEvent* waits) {
  return zeCommandListAppendLaunchKernel(list, kernel, groups, signal, count, waits);
}

ZeResult zeEventPoolCreate(ZeContext, const ZeEventPoolDesc* desc, uint32_t, ZeDeviceHandle*, ZeEventPool* pool) {
  return desc->type == 0x10 && (desc->flags & 4) != 0 ? Make(pool, &gpu) : kInvalidArgument;
}
ZeResult zeEventPoolDestroy(ZeEventPool) { return Drop(); }
ZeResult zeEventCreate(ZeEventPool, const ZeEventDesc* desc, ZeEvent* event) {
  return desc->type == 0x11 ? Make(event, new Event) : kInvalidArgument;
}
ZeResult zeEventDestroy(ZeEvent event) {
  delete reinterpret_cast<Event*>(event);
  return Drop();
}
ZeResult zeEventHostSynchronize(ZeEvent event, uint64_t) {
  return reinterpret_cast<Event*>(event)->signalled ? 0 : 1;  // not ready
}
ZeResult zeEventHostReset(ZeEvent event) {
  *reinterpret_cast<Event*>(event) = Event();
  return 0;
}
ZeResult zeEventQueryKernelTimestamp(ZeEvent event, ZeTimestamps* stamps) {
  *stamps = reinterpret_cast<Event*>(event)->stamps;
  return reinterpret_cast<Event*>(event)->signalled ? 0 : 1;
}

ZeResult zeMemAllocDevice(ZeContext, const ZeDeviceMemoryDesc* desc, size_t bytes, size_t alignment, ZeDeviceHandle,
                          void** pointer) {
  if (desc->type != 0x15) return kInvalidArgument;
  if (bytes > fake_gpu::kMemoryBytes) return kUnsupportedSize;
  *pointer = gpu.Allocate(bytes, alignment);
  return *pointer == nullptr ? kOutOfDeviceMemory : 0;
}
ZeResult zeMemFree(ZeContext, void* pointer) { return gpu.Free(pointer) ? 0 : kInvalidArgument; }

ZeResult zeModuleCreate(ZeContext, ZeDeviceHandle, const ZeModuleDesc* desc, ZeModule* module, ZeBuildLog* log) {
  Make(log, &gpu);
  if (desc->type != 0x1b) return kInvalidArgument;
  const bool is_spirv = desc->format == ZeModuleDesc::kSpirv;
  const bool is_good =
      is_spirv ? fake_gpu::IsSpirv(desc->module, desc->bytes) : fake_gpu::IsElf(desc->module, desc->bytes);
  const char* flags = desc->build_flags == nullptr ? "" : desc->build_flags;
  if (is_good) return Make(module, new Module{std::strstr(flags, "-cl-intel-256-GRF-per-thread") != nullptr});
  return is_spirv ? kBuildFailure : kInvalidNativeBinary;
}
ZeResult zeModuleDestroy(ZeModule module) {
  delete reinterpret_cast<Module*>(module);
  return Drop();
}
ZeResult zeModuleBuildLogGetString(ZeBuildLog, size_t* bytes, char* text) {
  constexpr char kText[] = "the fake's build log";
  if (text != nullptr) std::memcpy(text, kText, sizeof(kText));
  *bytes = sizeof(kText);
  return 0;
}
ZeResult zeModuleBuildLogDestroy(ZeBuildLog) { return Drop(); }

ZeResult zeKernelCreate(ZeModule module, const ZeKernelDesc* desc, ZeKernel* handle) {
  const fake_gpu::KernelEntry* entry = fake_gpu::FindKernel(desc->name);
  if (desc->type != 0x1d || entry == nullptr) return kInvalidKernelName;
  auto* kernel = new Kernel;
  kernel->launch.kernel = entry;
  // One kernel gains from registers, the others spill as much as before.
  if (reinterpret_cast<Module*>(module)->has_large_registers && std::strcmp(desc->name, "vector_add") == 0)
    kernel->spill_bytes = 512;
  kernel->launch.arguments.resize(entry->count());
  kernel->is_set.resize(entry->count() + (entry->uses_shared ? 1 : 0));
  return Make(handle, kernel);
}
ZeResult zeKernelDestroy(ZeKernel kernel) {
  delete reinterpret_cast<Kernel*>(kernel);
  return Drop();
}
ZeResult zeKernelSetGroupSize(ZeKernel kernel, uint32_t x, uint32_t y, uint32_t z) {
  reinterpret_cast<Kernel*>(kernel)->launch.threads = x;
  return x <= 1024 && y == 1 && z == 1 ? 0 : kInvalidGroupSize;
}
ZeResult zeKernelSetArgumentValue(ZeKernel handle, uint32_t index, size_t bytes, const void* value) {
  auto& kernel = *reinterpret_cast<Kernel*>(handle);
  if (index >= kernel.is_set.size()) return kInvalidArgumentIndex;
  kernel.is_set[index] = true;
  if (index == kernel.launch.arguments.size()) {  // shared memory
    kernel.launch.shared_bytes = bytes;
    return value == nullptr ? 0 : kInvalidArgument;
  }
  if (bytes != kernel.launch.kernel->bytes(index)) return kInvalidArgumentSize;
  uint64_t& argument = kernel.launch.arguments[index] = 0;
  if (value != nullptr) std::memcpy(&argument, value, bytes);
  // A pointer is the address of an allocation, or no value.
  const bool is_null_pointer = kernel.launch.kernel->is_pointer(index) && argument == 0;
  return is_null_pointer == (value == nullptr) ? 0 : kInvalidArgument;
}
ZeResult zeKernelGetProperties(ZeKernel kernel, ZeKernelProperties* properties) {
  properties->parameters = static_cast<uint32_t>(reinterpret_cast<Kernel*>(kernel)->is_set.size());
  properties->spill_bytes = reinterpret_cast<Kernel*>(kernel)->spill_bytes;
  return properties->type == 0x1e ? 0 : kInvalidArgument;
}
}
