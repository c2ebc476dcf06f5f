// SPDX-License-Identifier: Apache-2.0
// An OpenCL loader with one platform: a device without SPIR-V, and a GPU (fake_gpu.h), a Battlemage. Launches and fills
// wait in the queue until something blocks, as late as they may. Memory has the alignment of OpenCL's largest type
// alone.
#include <cstring>
#include <vector>

#include "workers/device/fake_gpu.h"
#include "workers/device/opencl_driver.h"

namespace {

using namespace tritond;
using namespace tritond::workers;

enum Result : ClResult {
  kNotAvailable = -2,
  kAllocationFailure = -4,
  kProfilingNotAvailable = -7,
  kBuildFailure = -11,
  kInvalidValue = -30,
  kInvalidBinary = -42,
  kInvalidKernelName = -46,
  kInvalidArgumentIndex = -49,
  kInvalidArgumentValue = -50,
  kInvalidArgumentSize = -51,
  kInvalidKernelArguments = -52,
  kInvalidBufferSize = -61,
  kNoPlatform = -1001
};

struct Event {
  bool ended = false;
  uint64_t start_ns = 0, end_ns = 0;
};

struct Kernel {
  fake_gpu::Launch launch;
  std::vector<bool> is_set;
};

using fake_gpu::gpu;
using fake_gpu::objects;
int other_device = 0;
fake_gpu::Stream queue(gpu);
bool is_spirv_whole = true;  // of the last program

ClResult ResultOf(fake_gpu::Fault fault) {
  if (fault == fake_gpu::Fault::kNone) return 0;
  return fault == fake_gpu::Fault::kLost ? kNotAvailable : kClOutOfResources;
}

ClResult Finish() { return ResultOf(queue.Synchronize()); }

template <typename Handle>
Handle Make(ClResult* result, void* object) {
  ++objects;
  *result = 0;
  return reinterpret_cast<Handle>(object);
}

ClResult Drop() { return --objects, 0; }

ClResult Answer(const void* value, size_t value_bytes, size_t most, void* to, size_t* bytes) {
  if (bytes != nullptr) *bytes = value_bytes;
  if (to != nullptr && most < value_bytes) return kInvalidValue;
  if (to != nullptr) std::memcpy(to, value, value_bytes);
  return 0;
}

template <typename T>
ClResult Answer(T value, size_t most, void* to, size_t* bytes) {
  return Answer(&value, sizeof(value), most, to, bytes);
}

ClResult Answer(const char* text, size_t most, void* to, size_t* bytes) {
  return Answer(text, std::strlen(text) + 1, most, to, bytes);
}

// Checks what values and pointers share. Null, with `result`, where the kernel has no such parameter.
uint64_t* ArgumentOf(ClKernel handle, uint32_t index, bool is_pointer, size_t bytes, ClResult* result) {
  auto& kernel = *reinterpret_cast<Kernel*>(handle);
  *result = kInvalidArgumentIndex;
  if (index >= kernel.launch.arguments.size()) return nullptr;
  *result = bytes == kernel.launch.kernel->bytes(index) ? 0 : kInvalidArgumentSize;
  if (kernel.launch.kernel->is_pointer(index) != is_pointer) *result = kInvalidArgumentValue;
  if (*result != 0) return nullptr;
  kernel.is_set[index] = true;
  return &(kernel.launch.arguments[index] = 0);
}

}  // namespace

extern "C" {

ClResult clGetPlatformIDs(uint32_t most, ClPlatform* platforms, uint32_t* count) {
  if (!gpu.IsPresent()) return kNoPlatform;
  if (most > 0) platforms[0] = reinterpret_cast<ClPlatform>(&gpu);
  if (count != nullptr) *count = 1;
  return 0;
}
ClResult clGetDeviceIDs(ClPlatform, uint64_t, uint32_t most, ClDeviceId* devices, uint32_t* count) {
  if (most > 0) devices[0] = reinterpret_cast<ClDeviceId>(&other_device);
  if (most > 1) devices[1] = reinterpret_cast<ClDeviceId>(&gpu);
  if (count != nullptr) *count = 2;
  return 0;
}
ClResult clGetDeviceInfo(ClDeviceId device, uint32_t name, size_t most, void* value, size_t* bytes) {
  const bool is_other = reinterpret_cast<int*>(device) == &other_device;
  switch (name) {
    case OpenClDriver::kName:
      return Answer(is_other ? "Another device" : "Fake Battlemage", most, value, bytes);
    case OpenClDriver::kIlVersion:
      return Answer(is_other ? "" : "SPIR-V_1.2 SPIR-V_1.4 ", most, value, bytes);
    case OpenClDriver::kExtensions:
      return Answer("cl_khr_fp16 cl_intel_unified_shared_memory ", most, value, bytes);
    case OpenClDriver::kDriverVersion:
      return Answer("25.18.33578", most, value, bytes);
    case OpenClDriver::kTypes:
      return Answer(OpenClDriver::kGpu, most, value, bytes);
    case OpenClDriver::kPciDeviceId:
      return Answer(uint32_t{0xe20b}, most, value, bytes);
    case OpenClDriver::kSubgroupSizes: {
      constexpr size_t kSizes[] = {16, 32};
      return Answer(kSizes, sizeof(kSizes), most, value, bytes);
    }
    case OpenClDriver::kClockMhz:
      return Answer(uint32_t{2850}, most, value, bytes);
    case OpenClDriver::kMaxGroupSize:
      return Answer(size_t{1024}, most, value, bytes);
    case OpenClDriver::kLocalBytes:
      return Answer(fake_gpu::kSharedBytes, most, value, bytes);
    case OpenClDriver::kMemoryBytes:
      return Answer(fake_gpu::kMemoryBytes, most, value, bytes);
    case OpenClDriver::kCacheBytes:
      return Answer(fake_gpu::kCacheBytes, most, value, bytes);
    default:
      return kInvalidValue;
  }
}
ClContext clCreateContext(const intptr_t*, uint32_t count, const ClDeviceId* devices,
                          void (*)(const char*, const void*, size_t, void*), void*, ClResult* result) {
  if (count == 1 && reinterpret_cast<fake_gpu::Gpu*>(devices[0]) == &gpu) return Make<ClContext>(result, &gpu);
  *result = kInvalidValue;
  return nullptr;
}
ClResult clReleaseContext(ClContext) { return Drop(); }
ClQueue clCreateCommandQueueWithProperties(ClContext, ClDeviceId, const uint64_t* properties, ClResult* result) {
  if (properties[0] == OpenClDriver::kQueueProperties && properties[1] == OpenClDriver::kProfiling &&
      properties[2] == 0)
    return Make<ClQueue>(result, &gpu);
  *result = kInvalidValue;
  return nullptr;
}
ClResult clReleaseCommandQueue(ClQueue) { return Drop(); }

ClProgram clCreateProgramWithIL(ClContext, const void* il, size_t bytes, ClResult* result) {
  is_spirv_whole = fake_gpu::IsSpirv(il, bytes);
  return Make<ClProgram>(result, &gpu);
}
ClProgram clCreateProgramWithBinary(ClContext, uint32_t count, const ClDeviceId*, const size_t* bytes,
                                    const unsigned char** binaries, ClResult*, ClResult* result) {
  is_spirv_whole = true;
  if (count == 1 && fake_gpu::IsElf(binaries[0], bytes[0])) return Make<ClProgram>(result, &gpu);
  *result = kInvalidBinary;
  return nullptr;
}
ClResult clBuildProgram(ClProgram, uint32_t, const ClDeviceId*, const char*, void (*)(ClProgram, void*), void*) {
  return is_spirv_whole ? 0 : kBuildFailure;
}
ClResult clGetProgramBuildInfo(ClProgram, ClDeviceId, uint32_t, size_t most, void* value, size_t* bytes) {
  return Answer("the fake's build log", most, value, bytes);
}
ClResult clReleaseProgram(ClProgram) { return Drop(); }

ClKernel clCreateKernel(ClProgram, const char* name, ClResult* result) {
  const fake_gpu::KernelEntry* entry = fake_gpu::FindKernel(name);
  if (entry == nullptr) {
    *result = kInvalidKernelName;
    return nullptr;
  }
  auto* kernel = new Kernel;
  kernel->launch.kernel = entry;
  kernel->launch.arguments.resize(entry->count());
  kernel->is_set.resize(entry->count() + (entry->uses_shared ? 1 : 0));
  return Make<ClKernel>(result, kernel);
}
ClResult clReleaseKernel(ClKernel kernel) {
  delete reinterpret_cast<Kernel*>(kernel);
  return Drop();
}
ClResult clGetKernelInfo(ClKernel kernel, uint32_t name, size_t most, void* value, size_t* bytes) {
  if (name != OpenClDriver::kParameterCount) return kInvalidValue;
  return Answer(static_cast<uint32_t>(reinterpret_cast<Kernel*>(kernel)->is_set.size()), most, value, bytes);
}
ClResult clGetKernelWorkGroupInfo(ClKernel, ClDeviceId, uint32_t name, size_t most, void* value, size_t* bytes) {
  return Answer(uint64_t{name == OpenClDriver::kKernelSpillBytes ? 2048u : 0u}, most, value, bytes);
}
ClResult clSetKernelArg(ClKernel handle, uint32_t index, size_t bytes, const void* value) {
  auto& kernel = *reinterpret_cast<Kernel*>(handle);
  if (index == kernel.launch.arguments.size() && index < kernel.is_set.size()) {  // local memory
    kernel.is_set[index] = true;
    kernel.launch.shared_bytes = bytes;
    return value == nullptr ? 0 : kInvalidArgumentValue;
  }
  ClResult result;
  uint64_t* argument = ArgumentOf(handle, index, false, bytes, &result);
  if (argument != nullptr) std::memcpy(argument, value, bytes);
  return result;
}
ClResult clEnqueueNDRangeKernel(ClQueue, ClKernel handle, uint32_t dimensions, const size_t* offset,
                                const size_t* global, const size_t* local, uint32_t, const ClEvent*, ClEvent* signal) {
  const auto& kernel = *reinterpret_cast<Kernel*>(handle);
  for (const bool is_set : kernel.is_set) {
    if (!is_set) return kInvalidKernelArguments;
  }
  if (dimensions != 3 || offset != nullptr || local[1] != 1 || local[2] != 1) return kInvalidValue;
  fake_gpu::Launch launch = kernel.launch;
  for (int i = 0; i < 3; ++i) launch.grid[i] = static_cast<uint32_t>(global[i] / local[i]);
  launch.threads = static_cast<uint32_t>(local[0]);
  auto* event = signal == nullptr ? nullptr : new Event;
  if (event != nullptr) {
    ++objects;
    *signal = reinterpret_cast<ClEvent>(event);
  }
  queue.Add([launch, event] {
    const uint64_t start = gpu.now_ns();
    gpu.Run(launch);
    if (event != nullptr) *event = {true, start, gpu.now_ns()};
  });
  return 0;
}
ClResult clFinish(ClQueue) { return Finish(); }
ClResult clGetEventProfilingInfo(ClEvent handle, uint32_t name, size_t most, void* value, size_t* bytes) {
  const auto& event = *reinterpret_cast<Event*>(handle);
  if (!event.ended) return kProfilingNotAvailable;
  return Answer(name == OpenClDriver::kStarted ? event.start_ns : event.end_ns, most, value, bytes);
}
ClResult clReleaseEvent(ClEvent event) {
  delete reinterpret_cast<Event*>(event);
  return Drop();
}

// cl_intel_unified_shared_memory, whose functions no loader exports.
static void* Allocate(ClContext, ClDeviceId, const uint64_t*, size_t bytes, uint32_t alignment, ClResult* result) {
  constexpr uint32_t kMost = 128;
  *result = alignment > kMost ? kInvalidValue : bytes > fake_gpu::kMemoryBytes ? kInvalidBufferSize : 0;
  void* pointer = *result == 0 ? gpu.Allocate(bytes, kMost) : nullptr;
  if (pointer == nullptr && *result == 0) *result = kAllocationFailure;
  return pointer;
}
static ClResult Free(ClContext, void* pointer) { return gpu.Free(pointer) ? 0 : kInvalidValue; }
static ClResult SetPointer(ClKernel kernel, uint32_t index, const void* value) {
  ClResult result;
  uint64_t* argument = ArgumentOf(kernel, index, true, sizeof(value), &result);
  if (argument != nullptr) std::memcpy(argument, &value, sizeof(value));
  return result;
}
static ClResult Copy(ClQueue, uint32_t blocking, void* to, const void* from, size_t bytes, uint32_t, const ClEvent*,
                     ClEvent*) {
  queue.Add([=] { gpu.Copy(to, from, bytes); });
  return blocking != 0 ? Finish() : 0;
}
static ClResult Fill(ClQueue, void* to, const void* pattern, size_t pattern_bytes, size_t bytes, uint32_t,
                     const ClEvent*, ClEvent*) {
  const int value = *static_cast<const char*>(pattern);
  queue.Add([=] { gpu.Fill(to, value, bytes); });
  return pattern_bytes == 1 ? 0 : kInvalidValue;
}
void* clGetExtensionFunctionAddressForPlatform(ClPlatform, const char* name) {
  const std::string wanted = name;
  if (wanted == "clDeviceMemAllocINTEL") return reinterpret_cast<void*>(Allocate);
  if (wanted == "clMemFreeINTEL") return reinterpret_cast<void*>(Free);
  if (wanted == "clSetKernelArgMemPointerINTEL") return reinterpret_cast<void*>(SetPointer);
  if (wanted == "clEnqueueMemcpyINTEL") return reinterpret_cast<void*>(Copy);
  if (wanted == "clEnqueueMemFillINTEL") return reinterpret_cast<void*>(Fill);
  return nullptr;
}
}
