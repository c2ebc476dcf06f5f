// SPDX-License-Identifier: Apache-2.0
// A HIP run-time with one GPU (fake_gpu.h), of architecture gfx942. Launches, fills and events wait in the stream until
// something that synchronises, as late as they may.
#include <elf.h>

#include "workers/device/fake_gpu.h"
#include "workers/device/hip_driver.h"

namespace {

using namespace tritond;
using namespace tritond::workers;

enum Result : HipResult {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kUnknown = 999
};

using fake_gpu::gpu;
using fake_gpu::objects;
fake_gpu::Stream stream(gpu);

HipResult ResultOf(fake_gpu::Fault fault) {
  if (fault == fake_gpu::Fault::kNone) return 0;
  return fault == fake_gpu::Fault::kLost ? kUnknown : kIllegalAddress;
}

HipResult Synchronize() { return ResultOf(stream.Synchronize()); }

}  // namespace

extern "C" {

HipResult hipInit(unsigned int) { return gpu.IsPresent() ? 0 : kNoDevice; }
HipResult hipDriverGetVersion(int* version) { return *version = 60342134, 0; }
HipResult hipGetDeviceCount(int* count) { return *count = 1, 0; }
HipResult hipGetDevicePropertiesR0600(HipProperties* properties, int device) {
  std::strcpy(properties->name, "Fake Instinct");
  std::strcpy(properties->architecture, "gfx942:sramecc+:xnack-");
  return device == 0 ? 0 : kInvalidDevice;
}
HipResult hipDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case HipDriver::kClockKhz:
      return *value = 2100000, 0;
    case HipDriver::kMaxThreads:
      return *value = 1024, 0;
    case HipDriver::kMaxSharedBytes:
      return *value = fake_gpu::kSharedBytes, 0;
    case HipDriver::kL2CacheBytes:
      return *value = fake_gpu::kCacheBytes, 0;
    default:
      return kInvalidValue;
  }
}
HipResult hipDeviceTotalMem(size_t* bytes, int) { return *bytes = fake_gpu::kMemoryBytes, 0; }
HipResult hipSetDevice(int device) { return device == 0 ? 0 : kInvalidDevice; }
HipResult hipDeviceSynchronize() { return Synchronize(); }

HipResult hipMalloc(void** pointer, size_t bytes) {
  *pointer = gpu.Allocate(bytes, 256);
  return *pointer == nullptr ? kOutOfMemory : 0;
}
HipResult hipFree(void* pointer) {
  Synchronize();
  return gpu.Free(pointer) ? 0 : kInvalidValue;
}
HipResult hipMemcpyHtoD(void* to, const void* from, size_t bytes) {
  Synchronize();
  return ResultOf(gpu.Copy(to, from, bytes));
}
HipResult hipMemcpyDtoH(void* to, void* from, size_t bytes) {
  Synchronize();
  return ResultOf(gpu.Copy(to, from, bytes));
}
HipResult hipMemsetD8(void* to, unsigned char value, size_t bytes) {
  stream.Add([=] { gpu.Fill(to, value, bytes); });
  return 0;
}
HipResult hipHostRegister(void*, size_t, unsigned int) { return ++objects, 0; }
HipResult hipHostUnregister(void*) { return --objects, 0; }

HipResult hipModuleLoadData(HipModule* module, const void* image) {
  if (static_cast<const Elf64_Ehdr*>(image)->e_ident[EI_CLASS] != ELFCLASS64) return kInvalidImage;
  ++objects;
  *module = reinterpret_cast<HipModule>(&gpu);
  return 0;
}
HipResult hipModuleUnload(HipModule) { return --objects, 0; }
HipResult hipModuleGetFunction(HipFunction* function, HipModule, const char* name) {
  const fake_gpu::KernelEntry* kernel = fake_gpu::FindKernel(name);
  *function = reinterpret_cast<HipFunction>(const_cast<fake_gpu::KernelEntry*>(kernel));
  return kernel == nullptr ? kNotFound : 0;
}
HipResult hipFuncGetAttribute(int* value, int attribute, HipFunction) {
  *value = attribute == HipDriver::kRegisters ? 42 : 0;
  return 0;
}
HipResult hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, HipFunction, int threads, size_t) {
  return *blocks = 2048 / threads, 0;
}
HipResult hipModuleLaunchKernel(HipFunction function, unsigned int x, unsigned int y, unsigned int z,
                                unsigned int threads, unsigned int block_y, unsigned int block_z, unsigned int shared,
                                HipStream, void** parameters, void** extra) {
  if (block_y != 1 || block_z != 1 || extra != nullptr) return kInvalidValue;
  const fake_gpu::Launch launch = fake_gpu::LaunchOf(function, {x, y, z}, threads, shared, parameters);
  stream.Add([launch] { gpu.Run(launch); });
  return 0;
}
HipResult hipModuleLaunchCooperativeKernel(HipFunction function, unsigned int x, unsigned int y, unsigned int z,
                                           unsigned int threads, unsigned int block_y, unsigned int block_z,
                                           unsigned int shared, HipStream stream, void** parameters) {
  return hipModuleLaunchKernel(function, x, y, z, threads, block_y, block_z, shared, stream, parameters, nullptr);
}

HipResult hipEventCreate(HipEvent* event) {
  ++objects;
  *event = reinterpret_cast<HipEvent>(new fake_gpu::Event);
  return 0;
}
HipResult hipEventDestroy(HipEvent event) {
  --objects;
  delete reinterpret_cast<fake_gpu::Event*>(event);
  return 0;
}
HipResult hipEventRecord(HipEvent event, HipStream) {
  auto* recorded = reinterpret_cast<fake_gpu::Event*>(event);
  *recorded = fake_gpu::Event();
  stream.Add([recorded] { *recorded = {true, gpu.now_ns()}; });
  return 0;
}
HipResult hipEventElapsedTime(float* milliseconds, HipEvent start, HipEvent end) {
  const auto &from = *reinterpret_cast<fake_gpu::Event*>(start), &to = *reinterpret_cast<fake_gpu::Event*>(end);
  *milliseconds = static_cast<float>(to.ns - from.ns) / 1e6f;
  return from.is_recorded && to.is_recorded ? 0 : kNotReady;
}
const char* hipGetErrorName(HipResult) { return "hipErrorOfTheFake"; }
const char* hipGetErrorString(HipResult result) {
  return result == kIllegalAddress ? "an illegal memory access"
         : result == kUnknown      ? "the device is lost"
                                   : "an error";
}
}
