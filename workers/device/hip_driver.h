// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HIP_DRIVER_H_
#define WORKERS_DEVICE_HIP_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// The types and functions of AMD's HIP run-time that a device needs, found in its library at run time. Names, values
// and layouts are those of its ABI (ROCm 6 and 7, "HIP Runtime API Reference").
using HipResult = int;
using HipModule = struct HipModuleHandle*;
using HipFunction = struct HipFunctionHandle*;
using HipStream = struct HipStreamHandle*;
using HipEvent = struct HipEventHandle*;

// hipDeviceProp_tR0600, of which two members are read.
struct HipProperties {
  char name[256];
  char others[904];
  char architecture[256];  // "gfx942:sramecc+:xnack-"
  char rest[56];
};
static_assert(sizeof(HipProperties) == 1472, "the run-time's layout");

struct HipDriver {
  enum DeviceAttribute : int {
    kClockKhz = 5,
    kL2CacheBytes = 19,
    kMaxBlocksOfMultiprocessor = 25,
    kMaxThreads = 56,
    kMaxThreadsOfMultiprocessor = 57,
    kMemoryClockKhz = 60,
    kMaxSharedBytes = 74,
    kSharedBytesOfMultiprocessor = 10002,
  };
  enum FunctionAttribute : int { kStaticSharedBytes = 1, kLocalBytes = 3, kRegisters = 4 };

  // Opens the run-time's library and starts it. FailedPrecondition: there is none, or it does not work here.
  static absl::StatusOr<std::unique_ptr<HipDriver>> Open(const std::string& library);

  // Ok, or what the run-time says about `result`, after `what`; with the code that Device promises.
  absl::Status Check(HipResult result, absl::string_view what) const;

  HipResult (*init)(unsigned int flags);
  HipResult (*driver_version)(int* version);
  HipResult (*device_count)(int* count);
  HipResult (*device_properties)(HipProperties* properties, int device);
  HipResult (*device_attribute)(int* value, int attribute, int device);
  HipResult (*device_memory)(size_t* bytes, int device);
  HipResult (*device_set)(int device);
  HipResult (*device_synchronize)();
  HipResult (*memory_allocate)(void** pointer, size_t bytes);
  HipResult (*memory_free)(void* pointer);
  HipResult (*copy_in)(void* to, const void* from, size_t bytes);
  HipResult (*copy_out)(void* to, void* from, size_t bytes);
  HipResult (*host_register)(void* bytes, size_t size, unsigned int flags);
  HipResult (*host_unregister)(void* bytes);
  HipResult (*memory_set)(void* to, unsigned char value, size_t bytes);
  HipResult (*module_load)(HipModule* module, const void* image);
  HipResult (*module_unload)(HipModule module);
  HipResult (*module_function)(HipFunction* function, HipModule module, const char* name);
  HipResult (*function_get)(int* value, int attribute, HipFunction function);
  HipResult (*occupancy)(int* blocks, HipFunction function, int threads, size_t shared_bytes);
  HipResult (*launch)(HipFunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                      HipStream stream, void** parameters, void** extra);
  HipResult (*launch_cooperative)(HipFunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                  unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                  unsigned int shared_bytes, HipStream stream, void** parameters);
  HipResult (*event_create)(HipEvent* event);
  HipResult (*event_destroy)(HipEvent event);
  HipResult (*event_record)(HipEvent event, HipStream stream);
  HipResult (*event_elapsed)(float* milliseconds, HipEvent start, HipEvent end);
  const char* (*error_name)(HipResult result);
  const char* (*error_text)(HipResult result);

 private:
  HipDriver() = default;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HIP_DRIVER_H_
