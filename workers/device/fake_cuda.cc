// SPDX-License-Identifier: Apache-2.0
// A CUDA driver with one GPU (fake_gpu.h) of compute capability 9.0. Launches, fills and events wait in the stream
// until something that synchronises, as late as they may. Calls need a context that is current on their thread.
#include <algorithm>
#include <cstring>

#include "workers/device/cuda_driver.h"
#include "workers/device/fake_gpu.h"

namespace {

using namespace tritond;
using namespace tritond::workers;

enum Result : CudaResult {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kUnknown = 999
};

constexpr int kSharedBytesWithoutAsking = 48 << 10;

using fake_gpu::gpu;
using fake_gpu::objects;
fake_gpu::Stream stream(gpu);
int allowed_shared_bytes = kSharedBytesWithoutAsking;
thread_local bool has_context = false;
const bool resets = (
    fake_gpu::on_reset =
        [] {
          allowed_shared_bytes = kSharedBytesWithoutAsking;
          has_context = false;
        },
    true);

CudaResult ResultOf(fake_gpu::Fault fault) {
  if (!has_context) return kInvalidContext;
  if (fault == fake_gpu::Fault::kNone) return 0;
  return fault == fake_gpu::Fault::kLost ? kUnknown : kIllegalAddress;
}

CudaResult Synchronize() { return ResultOf(stream.Synchronize()); }

template <typename Handle>
CudaResult Make(Handle* handle, void* object) {
  if (!has_context) return kInvalidContext;
  ++objects;
  *handle = reinterpret_cast<Handle>(object);
  return 0;
}

CudaResult Drop() { return has_context ? (--objects, 0) : kInvalidContext; }

}  // namespace

extern "C" {

CudaResult cuInit(unsigned int) { return gpu.IsPresent() ? 0 : kNoDevice; }
CudaResult cuDriverGetVersion(int* version) { return *version = 12080, 0; }
CudaResult cuDeviceGetCount(int* count) { return *count = 1, 0; }
CudaResult cuDeviceGet(CudaDeviceId* device, int index) { return *device = index, index == 0 ? 0 : kInvalidDevice; }
CudaResult cuDeviceGetName(char* name, int bytes, CudaDeviceId) { return std::strncpy(name, "Fake Hopper", bytes), 0; }
CudaResult cuDeviceGetAttribute(int* value, int attribute, CudaDeviceId) {
  switch (attribute) {
    case CudaDriver::kMajor:
      return *value = 9, 0;
    case CudaDriver::kMinor:
      return *value = 0, 0;
    case CudaDriver::kClockKhz:
      return *value = 1980000, 0;
    case CudaDriver::kMaxThreads:
      return *value = 1024, 0;
    case CudaDriver::kMaxSharedBytes:
      return *value = fake_gpu::kSharedBytes, 0;
    case CudaDriver::kL2CacheBytes:
      return *value = fake_gpu::kCacheBytes, 0;
    default:
      return kInvalidValue;
  }
}
CudaResult cuDeviceTotalMem_v2(size_t* bytes, CudaDeviceId) { return *bytes = fake_gpu::kMemoryBytes, 0; }
CudaResult cuDeviceGetPCIBusId(char*, int, CudaDeviceId) { return kInvalidDevice; }  // No monitor finds it.
CudaResult cuDevicePrimaryCtxRetain(CudaContext* context, CudaDeviceId) {
  ++objects;
  *context = reinterpret_cast<CudaContext>(&gpu);
  return 0;
}
CudaResult cuDevicePrimaryCtxRelease_v2(CudaDeviceId) { return --objects, 0; }
CudaResult cuCtxSetCurrent(CudaContext context) {
  has_context = context != nullptr;
  return 0;
}
CudaResult cuCtxSynchronize() { return Synchronize(); }

CudaResult cuMemAlloc_v2(CudaPointer* pointer, size_t bytes) {
  if (!has_context) return kInvalidContext;
  *pointer = reinterpret_cast<CudaPointer>(gpu.Allocate(bytes, 256));
  return *pointer == 0 ? kOutOfMemory : 0;
}
CudaResult cuMemFree_v2(CudaPointer pointer) {
  Synchronize();
  return gpu.Free(reinterpret_cast<void*>(pointer)) ? 0 : kInvalidValue;
}
CudaResult cuMemcpyHtoD_v2(CudaPointer to, const void* from, size_t bytes) {
  Synchronize();
  return ResultOf(gpu.Copy(reinterpret_cast<void*>(to), from, bytes));
}
CudaResult cuMemcpyDtoH_v2(void* to, CudaPointer from, size_t bytes) {
  Synchronize();
  return ResultOf(gpu.Copy(to, reinterpret_cast<const void*>(from), bytes));
}
CudaResult cuMemsetD8_v2(CudaPointer to, unsigned char value, size_t bytes) {
  stream.Add([=] { gpu.Fill(reinterpret_cast<void*>(to), value, bytes); });
  return 0;
}
CudaResult cuMemHostRegister_v2(void*, size_t, unsigned int) { return ++objects, 0; }
CudaResult cuMemHostUnregister(void*) { return --objects, 0; }

CudaResult cuModuleLoadDataEx(CudaModule* module, const void* image, unsigned int, int*, void**) {
  return std::strncmp(static_cast<const char*>(image), ".version", 8) == 0 ? Make(module, &gpu) : kInvalidImage;
}
CudaResult cuModuleUnload(CudaModule) { return Drop(); }
CudaResult cuModuleGetFunction(CudaFunction* function, CudaModule, const char* name) {
  const fake_gpu::KernelEntry* kernel = fake_gpu::FindKernel(name);
  *function = reinterpret_cast<CudaFunction>(const_cast<fake_gpu::KernelEntry*>(kernel));
  return kernel == nullptr ? kNotFound : 0;
}
CudaResult cuFuncGetAttribute(int* value, int attribute, CudaFunction) {
  *value = attribute == CudaDriver::kRegisters ? 42 : 0;
  return 0;
}
CudaResult cuFuncSetAttribute(CudaFunction, int attribute, int value) {
  allowed_shared_bytes = std::max(value, kSharedBytesWithoutAsking);
  return attribute == CudaDriver::kMaxDynamicSharedBytes ? 0 : kInvalidValue;
}
CudaResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CudaFunction, int threads, size_t) {
  return *blocks = 2048 / threads, 0;
}
CudaResult cuLaunchKernelEx(const CudaLaunchConfig* config, CudaFunction function, void** parameters, void** extra) {
  if (!has_context) return kInvalidContext;
  if (config->block[1] != 1 || config->block[2] != 1 || extra != nullptr) return kInvalidValue;
  if (config->shared_bytes > static_cast<unsigned int>(allowed_shared_bytes)) return kInvalidValue;
  const fake_gpu::Launch launch =
      fake_gpu::LaunchOf(function, config->grid, config->block[0], config->shared_bytes, parameters);
  stream.Add([launch] { gpu.Run(launch); });
  return 0;
}

// The map says what it was made of, as words.
CudaResult cuTensorMapEncodeTiled(void* map, int type, unsigned int rank, void*, const uint64_t* sizes,
                                  const uint64_t* strides, const uint32_t* box, const uint32_t*, int, int swizzle,
                                  int promotion, int fill) {
  if (!has_context) return kInvalidContext;
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0) return kInvalidValue;
  const uint32_t words[] = {static_cast<uint32_t>(type),
                            rank,
                            static_cast<uint32_t>(sizes[0]),
                            static_cast<uint32_t>(strides[0]),
                            box[0],
                            box[1],
                            static_cast<uint32_t>(swizzle),
                            static_cast<uint32_t>(promotion),
                            static_cast<uint32_t>(fill)};
  std::memcpy(map, words, sizeof(words));
  return 0;
}

CudaResult cuEventCreate(CudaEvent* event, unsigned int) { return Make(event, new fake_gpu::Event); }
CudaResult cuEventDestroy_v2(CudaEvent event) {
  delete reinterpret_cast<fake_gpu::Event*>(event);
  return Drop();
}
CudaResult cuEventRecord(CudaEvent event, CudaStream) {
  auto* recorded = reinterpret_cast<fake_gpu::Event*>(event);
  *recorded = fake_gpu::Event();
  stream.Add([recorded] { *recorded = {true, gpu.now_ns()}; });
  return 0;
}
CudaResult cuEventElapsedTime(float* milliseconds, CudaEvent start, CudaEvent end) {
  const auto &from = *reinterpret_cast<fake_gpu::Event*>(start), &to = *reinterpret_cast<fake_gpu::Event*>(end);
  *milliseconds = static_cast<float>(to.ns - from.ns) / 1e6f;
  return from.is_recorded && to.is_recorded ? 0 : kNotReady;
}
CudaResult cuGetErrorName(CudaResult, const char** name) { return *name = "CUDA_ERROR_OF_THE_FAKE", 0; }
CudaResult cuGetErrorString(CudaResult result, const char** text) {
  *text = result == kIllegalAddress ? "an illegal memory access"
          : result == kUnknown      ? "the device is lost"
                                    : "an error";
  return 0;
}
}
