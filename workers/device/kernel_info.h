// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_KERNEL_INFO_H_
#define WORKERS_DEVICE_KERNEL_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace tritond::workers {

// What a launch needs to know about a kernel, under the names of the compile's metadata.
struct KernelInfo {
  std::string name;     // of its entry in the binary
  uint32_t shared = 0;  // bytes of shared memory a program
  uint32_t num_warps = 4;
  uint32_t num_ctas = 1;  // blocks of a cluster
  uint32_t warp_size = 32;

  // Memory that the launch provides, in bytes a program, and the pointers to it. These follow the kernel's own
  // parameters (the launch ABI that was compiled for).
  uint64_t global_scratch_size = 0;
  uint64_t global_scratch_align = 1;
  uint64_t profile_scratch_size = 0;
  uint64_t profile_scratch_align = 1;
  bool has_global_scratch = true;
  bool has_profile_scratch = true;

  // Registers of a thread of an Intel GPU: "128", "256", "auto"; "default": 128, or 256 where the kernel spills.
  std::string grf_mode = "default";

  bool launch_cooperative_grid = false;  // all programs must be resident at once

  // The size of each of the kernel's own parameters, where known: arguments are checked against it.
  absl::optional<std::vector<int>> parameter_bytes;
};

// Reads the metadata that a compile gave (a JSON object; what it does not name keeps its default). InvalidArgument,
// naming the entry, when one has the wrong type or no kernel could have it.
absl::StatusOr<KernelInfo> ParseKernelInfo(absl::string_view metadata_json);

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_KERNEL_INFO_H_
