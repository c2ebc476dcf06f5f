// SPDX-License-Identifier: Apache-2.0
// What every library that fakes a driver has beside the driver's functions: its GPU, and what tests ask of that.
#include "workers/device/fake_gpu.h"

namespace tritond::fake_gpu {

Gpu gpu;
size_t objects = 0;
void (*on_reset)() = nullptr;

}  // namespace tritond::fake_gpu

using namespace tritond;

extern "C" {

// What the GPU has done since the last call, a line each. Valid until the next one.
const char* FakeGpuTakeLog() {
  static std::string log;
  log = fake_gpu::gpu.TakeLog();
  return log.c_str();
}
// The driver's objects and allocations that live.
size_t FakeGpuObjects() { return fake_gpu::objects + fake_gpu::gpu.count(); }
void FakeGpuReset() {
  fake_gpu::gpu.Reset();
  fake_gpu::objects = 0;
  if (fake_gpu::on_reset != nullptr) fake_gpu::on_reset();
}

}  // extern "C"
