// SPDX-License-Identifier: Apache-2.0
#include "workers/device/gpu_monitor.h"

#include <gtest/gtest.h>

namespace tritond::workers {
namespace {

TEST(GpuMonitor, TellsVersionAndStateOfItsGpu) {
  const auto monitor = GpuMonitor::Open("0000:01:00.0", TRITOND_FAKE_NVML);
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->DriverVersion(), "580.65.06");
  const DeviceState state = monitor->State();
  EXPECT_EQ(state.clock_mhz, 1755u);
  EXPECT_EQ(state.memory_clock_mhz, 3201u);
  EXPECT_EQ(state.power_watts, 513u);
}

TEST(GpuMonitor, AValueThatCannotBeReadIsZero) {
  const auto monitor = GpuMonitor::Open("0000:01:00.0", TRITOND_FAKE_NVML);
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->State().temperature_celsius, 0u);
}

TEST(GpuMonitor, IsAbsentWithoutTheGpuOrTheLibrary) {
  EXPECT_EQ(GpuMonitor::Open("0000:02:00.0", TRITOND_FAKE_NVML), nullptr);
  EXPECT_EQ(GpuMonitor::Open("0000:01:00.0", "libno_such_library.so.1"), nullptr);
  EXPECT_EQ(GpuMonitor::Open("0000:01:00.0", "libm.so.6"), nullptr);
}

}  // namespace
}  // namespace tritond::workers
