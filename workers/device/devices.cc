// SPDX-License-Identifier: Apache-2.0
#include "workers/device/devices.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "workers/device/cuda_device.h"
#include "workers/device/hip_device.h"
#include "workers/device/host_device.h"
#include "workers/device/level_zero_device.h"
#include "workers/device/opencl_device.h"

namespace tritond::workers {

namespace {

// A driver that has devices.
struct Kind {
  absl::string_view name;
  const char* library;
  absl::StatusOr<int> (*count)(const std::string& library);
  absl::StatusOr<std::unique_ptr<Device>> (*open)(int index, const std::string& library);
};

constexpr Kind kKinds[] = {
    {"cuda", kCudaLibrary, CountCudaDevices, OpenCudaDevice},
    {"hip", kHipLibrary, CountHipDevices, OpenHipDevice},
    {"ze", kLevelZeroLibrary, CountLevelZeroDevices, OpenLevelZeroDevice},
    {"cl", kOpenClLibrary, CountOpenClDevices, OpenOpenClDevice},
};

const Kind* FindKind(absl::string_view name) {
  const auto* found = absl::c_find_if(kKinds, [&](const Kind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names = {"host:0"};
  for (const Kind& kind : kKinds) {
    const auto count = kind.count(kind.library);
    for (int i = 0; count.ok() && i < *count; ++i) names.push_back(absl::StrCat(kind.name, ":", i));
  }
  return names;
}

absl::Status AddDeviceLibrary(absl::string_view text, std::map<std::string, std::string>* libraries) {
  const std::pair<std::string, std::string> entry = absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (FindKind(entry.first) == nullptr || entry.second.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no device library; expected cuda=PATH, hip=PATH, ze=PATH or cl=PATH"));
  }
  if (libraries->insert(entry).second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("two libraries for ", entry.first));
}

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options) {
  if (name == "host" || name == "host:0") return NewHostDevice(options);
  if (absl::StartsWith(name, "emulated:")) return NewEmulatedDevice(name, options);
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(name, absl::MaxSplits(':', 1));
  const Kind* kind = FindKind(parts.first);
  int index = 0;
  if (kind != nullptr && (name == kind->name || (absl::SimpleAtoi(parts.second, &index) && index >= 0))) {
    const auto library = options.libraries.find(std::string(kind->name));
    return kind->open(index, library == options.libraries.end() ? kind->library : library->second);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", name,
      "\" is no device; expected host:0, cuda:N, hip:N, ze:N (Level Zero), cl:N (OpenCL) or emulated:TARGET"));
}

}  // namespace tritond::workers
