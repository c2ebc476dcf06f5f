// SPDX-License-Identifier: Apache-2.0
// What Level Zero and OpenCL share: which target a GPU runs, and what its kernels look like.
#ifndef WORKERS_DEVICE_INTEL_ARCHITECTURE_H_
#define WORKERS_DEVICE_INTEL_ARCHITECTURE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "workers/device/device.h"

namespace tritond::workers {

// The target whose code a device runs, by its PCI device id (0: it has none): "xpu:pvc". A device that is none of the
// compiler's targets gets "xpu:dg2", whose code needs neither matrix unit nor f64.
std::string TargetOfIntelDevice(uint32_t pci_device_id);

// Whether a binary is a SPIR-V module (SPIR-V 1.6, section 2.3), and no native one.
bool IsSpirv(absl::string_view binary);

// InvalidArgument when a kernel of `parameters` parameters gets other than these arguments and, where it uses shared
// memory, the pointer to it, which comes last.
absl::Status CheckParameterCount(const KernelInfo& info, uint32_t parameters, absl::Span<const Argument> arguments);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_INTEL_ARCHITECTURE_H_
