// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_MEASURE_KERNEL_PROCESS_H_
#define WORKERS_MEASURE_KERNEL_PROCESS_H_

#include "absl/types/span.h"
#include "proto/v1/worker.pb.h"
#include "workers/device/device.h"

namespace tritond::workers {

// What a device says of itself, for Hello.
v1::Hello::Device DescribeDevice(const Device& device);

// The first argument of triton-worker by which it becomes such a process; those of RunKernelProcess follow.
inline constexpr char kKernelProcessFlag[] = "--kernel-process";

// The main of the process that runs kernels on one device. Opens the device, says what it is, and answers commands on
// the descriptor until the other end closes. Whatever a kernel does to the process or to the device's context ends
// here. Arguments: any number of drivers' libraries (KIND=PATH, AddDeviceLibrary), the device, the descriptor.
// Returns the exit status: 0 the other end closed, 1 the device does not open, 2 the arguments are wrong.
int RunKernelProcess(absl::Span<char* const> arguments);

}  // namespace tritond::workers

#endif  // WORKERS_MEASURE_KERNEL_PROCESS_H_
