// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_CUDA_DRIVER_H_
#define WORKERS_DEVICE_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// The types and functions of the CUDA driver API that a device needs, found in the driver's library at run time. Names,
// values and layouts are those of the driver's ABI (CUDA 12, its manual "CUDA Driver API").
using CudaResult = int;
using CudaPointer = uint64_t;
using CudaDeviceId = int;
using CudaContext = struct CudaContextHandle*;
using CudaModule = struct CudaModuleHandle*;
using CudaFunction = struct CudaFunctionHandle*;
using CudaStream = struct CudaStreamHandle*;
using CudaEvent = struct CudaEventHandle*;

struct CudaLaunchAttribute {
  enum Id : int { kCooperative = 2, kClusterDimension = 4, kClusterScheduling = 5 };
  int id;
  int padding = 0;
  union {
    unsigned int values[16];  // cooperative: 1; cluster: its size in x, y, z; scheduling: 1 is "spread"
  };
};
static_assert(sizeof(CudaLaunchAttribute) == 72, "the driver's layout");

struct CudaLaunchConfig {
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;
  CudaStream stream;
  CudaLaunchAttribute* attributes;
  unsigned int attribute_count;
};
static_assert(sizeof(CudaLaunchConfig) == 56, "the driver's layout");

struct CudaDriver {
  enum DeviceAttribute : int {
    kMaxThreads = 1,
    kClockKhz = 13,
    kMemoryClockKhz = 36,
    kL2CacheBytes = 38,
    kMaxThreadsOfMultiprocessor = 39,
    kMajor = 75,
    kMinor = 76,
    kSharedBytesOfMultiprocessor = 81,
    kRegistersOfMultiprocessor = 82,
    kMaxSharedBytes = 97,
    kMaxBlocksOfMultiprocessor = 106
  };
  enum FunctionAttribute : int { kStaticSharedBytes = 1, kLocalBytes = 3, kRegisters = 4, kMaxDynamicSharedBytes = 8 };
  enum JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };

  // Opens the driver's library and starts the driver. FailedPrecondition: there is none, or it does not work here.
  static absl::StatusOr<std::unique_ptr<CudaDriver>> Open(const std::string& library);

  // Ok, or what the driver says about `result`, after `what`; with the code that Device promises.
  absl::Status Check(CudaResult result, absl::string_view what) const;

  CudaResult (*init)(unsigned int flags);
  CudaResult (*driver_version)(int* version);
  CudaResult (*device_count)(int* count);
  CudaResult (*device_get)(CudaDeviceId* device, int index);
  CudaResult (*device_name)(char* name, int bytes, CudaDeviceId device);
  CudaResult (*device_attribute)(int* value, int attribute, CudaDeviceId device);
  CudaResult (*device_memory)(size_t* bytes, CudaDeviceId device);
  CudaResult (*device_bus_id)(char* id, int bytes, CudaDeviceId device);
  CudaResult (*context_retain)(CudaContext* context, CudaDeviceId device);
  CudaResult (*context_release)(CudaDeviceId device);
  CudaResult (*context_set)(CudaContext context);
  CudaResult (*context_synchronize)();
  CudaResult (*memory_allocate)(CudaPointer* pointer, size_t bytes);
  CudaResult (*memory_free)(CudaPointer pointer);
  CudaResult (*copy_in)(CudaPointer to, const void* from, size_t bytes);
  CudaResult (*copy_out)(void* to, CudaPointer from, size_t bytes);
  CudaResult (*host_register)(void* bytes, size_t size, unsigned int flags);
  CudaResult (*host_unregister)(void* bytes);
  CudaResult (*memory_set)(CudaPointer to, unsigned char value, size_t bytes);
  CudaResult (*module_load)(CudaModule* module, const void* image, unsigned int count, int* options, void** values);
  CudaResult (*module_unload)(CudaModule module);
  CudaResult (*module_function)(CudaFunction* function, CudaModule module, const char* name);
  CudaResult (*function_get)(int* value, int attribute, CudaFunction function);
  CudaResult (*function_set)(CudaFunction function, int attribute, int value);
  CudaResult (*occupancy)(int* blocks, CudaFunction function, int threads, size_t shared_bytes);
  CudaResult (*launch)(const CudaLaunchConfig* config, CudaFunction function, void** parameters, void** extra);
  // Null in drivers before CUDA 12.
  CudaResult (*tensor_map)(void* map, int type, unsigned int rank, void* address, const uint64_t* sizes,
                           const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                           int interleave, int swizzle, int l2_promotion, int fill);
  CudaResult (*event_create)(CudaEvent* event, unsigned int flags);
  CudaResult (*event_destroy)(CudaEvent event);
  CudaResult (*event_record)(CudaEvent event, CudaStream stream);
  CudaResult (*event_elapsed)(float* milliseconds, CudaEvent start, CudaEvent end);
  CudaResult (*error_name)(CudaResult result, const char** name);
  CudaResult (*error_text)(CudaResult result, const char** text);

 private:
  CudaDriver() = default;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_CUDA_DRIVER_H_
