// SPDX-License-Identifier: Apache-2.0
// The devices of this machine, by name.
#ifndef WORKERS_DEVICE_DEVICES_H_
#define WORKERS_DEVICE_DEVICES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "workers/device/device.h"

namespace tritond::workers {

// How a device runs kernels. All but the last act on the host device alone: no driver offers them for a GPU.
struct DeviceOptions {
  // Wall-clock limit of a launch. Checked when the kernel accesses memory or waits for its other threads.
  absl::Duration launch_limit = absl::InfiniteDuration();
  // System threads that run programs. With 1 the order of everything is the same in every launch.
  int threads = 1;
  // A read of shared memory that the program has not written is an error.
  bool check_uninitialized = false;
  // On emulated devices, what cp.async has copied needs a proxy fence before asynchronous instructions read it, as the
  // manual has it. Off: for the code of compilers that go without.
  bool copies_need_fences = true;
  // Gets what kernels print, in whole lines where they print such; null: standard output.
  std::function<void(absl::string_view)> print;
  // The path of a driver's library, by the kind of device that is opened through it ("hip"); absent: the usual one.
  std::map<std::string, std::string> libraries;
};

// Adds "KIND=PATH" to `libraries`. InvalidArgument: no such kind of device, no path, or a kind that has one.
absl::Status AddDeviceLibrary(absl::string_view text, std::map<std::string, std::string>* libraries);

// What can be opened here: "host:0", and "cuda:0", "hip:0", "ze:0" (Level Zero), "cl:0" (OpenCL)… where there are
// drivers with devices. Not emulated devices, which are for tests and slow.
std::vector<std::string> DeviceNames();

// "host" is "host:0", "cuda" is "cuda:0", "emulated:T" runs code of that target for any T. InvalidArgument: no such
// kind of device. FailedPrecondition: no driver on this machine. NotFound: the driver has no such device.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options = {});

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_DEVICES_H_
