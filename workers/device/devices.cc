// SPDX-License-Identifier: Apache-2.0
#include "workers/device/devices.h"

#include "absl/strings/str_cat.h"
#include "workers/device/host_device.h"

namespace tritond::workers {

std::vector<std::string> DeviceNames() { return {"host:0"}; }

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options) {
  if (name == "host" || name == "host:0") return NewHostDevice(options);
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no device; expected host:0"));
}

}  // namespace tritond::workers
