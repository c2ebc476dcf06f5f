// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HOST_DEVICE_H_
#define WORKERS_DEVICE_HOST_DEVICE_H_

#include <memory>

#include "workers/device/device.h"
#include "workers/device/devices.h"

namespace tritond::workers {

// The machine's processor as a device that checks everything. It runs the code of the compiler's `host` target with a
// fiber for each thread of a program (host_program.h). Programs run one after the other, in order of their index, or on
// several system threads.
//
// A launch fails with InvalidArgument, naming the places in the kernel's source, in these cases. The kernel accesses
// global memory outside the device's buffers, or shared memory outside its own. Two of its threads race on shared
// memory (shared_memory.h), or do not meet at the same barriers. The device is as good as before then.
//
// It cannot notice a loop that neither accesses memory nor waits. A program that waits for a later one of its grid
// waits forever: the limit of DeviceOptions ends it.
std::unique_ptr<Device> NewHostDevice(const DeviceOptions& options);

// The same, for code of the compiler's target `target`, "emulated:cuda:90": lanes execute the instructions of a GPU
// (emulated/instruction.h). Named as its target.
std::unique_ptr<Device> NewEmulatedDevice(absl::string_view target, const DeviceOptions& options);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HOST_DEVICE_H_
