// SPDX-License-Identifier: Apache-2.0
#include "workers/device/devices.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "workers/device/cuda_device.h"
#include "workers/device/host_device.h"

namespace tritond::workers {

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names = {"host:0"};
  const auto count = CountCudaDevices();
  for (int i = 0; count.ok() && i < *count; ++i) names.push_back(absl::StrCat("cuda:", i));
  return names;
}

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options) {
  if (name == "host" || name == "host:0") return NewHostDevice(options);
  if (absl::StartsWith(name, "emulated:")) return NewEmulatedDevice(name, options);
  absl::string_view rest = name;
  int index = 0;
  if (absl::ConsumePrefix(&rest, "cuda") &&
      (rest.empty() || (absl::ConsumePrefix(&rest, ":") && absl::SimpleAtoi(rest, &index) && index >= 0))) {
    return OpenCudaDevice(index);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is no device; expected host:0, cuda:N or emulated:TARGET"));
}

}  // namespace tritond::workers
