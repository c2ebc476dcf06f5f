// SPDX-License-Identifier: Apache-2.0
// What differs between generations of Intel GPUs, as one table. Its sources are the "Intel oneAPI GPU Optimization
// Guide" and the device properties that the Level Zero driver reports.
#ifndef COMPILER_TARGETS_INTEL_ARCHITECTURE_H_
#define COMPILER_TARGETS_INTEL_ARCHITECTURE_H_

#include <cstdint>
#include <vector>

namespace tritond::compiler::intel {

struct Architecture {
  const char* name;          // as the vendor's offline compiler and upstream have it
  int64_t max_shared_bytes;  // of a work-group
  bool has_f64;
  int matrix_lanes;      // of the smallest sub-groups, which the functions of the matrix unit are for
  bool has_tf32;         // in the matrix unit
  bool has_block_reads;  // of matrices in memory
};

// Xe HPC (Ponte Vecchio), Xe HPG (Alchemist), Xe2 (Battlemage, Lunar Lake), Xe3 (Panther Lake).
inline constexpr Architecture kArchitectures[] = {
    {"pvc", 128 << 10, true, 16, true, true},  {"dg2", 64 << 10, false, 8, false, false},
    {"bmg", 128 << 10, true, 16, false, true}, {"lnl", 128 << 10, true, 16, false, true},
    {"ptl", 128 << 10, true, 16, false, true},
};

// Lanes of a sub-group that kernels may be made for, where the device has such. The first is the width of the matrix
// unit of most generations.
inline constexpr int kSubGroupSizes[] = {16, 32, 8};

// An architecture and the sub-group size that its kernels are made for.
struct Device {
  const Architecture& arch;
  int lanes;
};

inline std::vector<Device> Devices() {
  std::vector<Device> devices;
  for (const Architecture& arch : kArchitectures)
    for (const int lanes : kSubGroupSizes)
      if (lanes >= arch.matrix_lanes) devices.push_back({arch, lanes});
  return devices;
}

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_ARCHITECTURE_H_
