// SPDX-License-Identifier: Apache-2.0
#include "workers/device/intel_architecture.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

// The first byte of the ids tells the family (the list in Linux, include/drm/intel/pciids.h).
std::string TargetOfIntelDevice(uint32_t pci_device_id) {
  switch (pci_device_id >> 8) {
    case 0x0B:
      return "xpu:pvc";
    case 0xE2:
      return "xpu:bmg";
    case 0x64:
      return "xpu:lnl";
    case 0xB0:
      return "xpu:ptl";
    default:
      return "xpu:dg2";
  }
}

bool IsSpirv(absl::string_view binary) {
  constexpr uint32_t kMagic = 0x07230203;
  constexpr size_t kHeaderBytes = 20;
  return binary.size() >= kHeaderBytes && binary.size() % 4 == 0 &&
         std::memcmp(binary.data(), &kMagic, sizeof(kMagic)) == 0;
}

absl::Status CheckParameterCount(const KernelInfo& info, uint32_t parameters, absl::Span<const Argument> arguments) {
  const size_t count = arguments.size() + (info.shared > 0 ? 1 : 0);
  if (count == parameters) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(info.name, " has ", parameters, " parameters; the launch has ", arguments.size(), " arguments",
                   info.shared > 0 ? " and shared memory" : "", ", scratch pointers included"));
}

}  // namespace tritond::workers
