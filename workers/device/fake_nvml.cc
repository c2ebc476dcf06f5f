// SPDX-License-Identifier: Apache-2.0
// A management library with one GPU, "0000:01:00.0", as NVML's manual describes it.
#include <cstring>

extern "C" {

static int gpu = 0;

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  *handle = &gpu;
  return std::strcmp(bus_id, "0000:01:00.0") == 0 ? 0 : 6;  // not found
}
int nvmlSystemGetDriverVersion(char* version, unsigned int bytes) {
  std::strncpy(version, "580.65.06", bytes);
  return 0;
}
int nvmlDeviceGetClockInfo(void* handle, int clock, unsigned int* megahertz) {
  *megahertz = clock == 1 ? 1755 : clock == 2 ? 3201 : 0;
  return handle == &gpu ? 0 : 2;  // invalid argument
}
int nvmlDeviceGetTemperature(void*, int, unsigned int*) { return 3; }  // not supported
int nvmlDeviceGetPowerUsage(void*, unsigned int* milliwatts) {
  *milliwatts = 512700;
  return 0;
}
}
