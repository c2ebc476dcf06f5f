// SPDX-License-Identifier: Apache-2.0
// What differs between generations of NVIDIA GPUs, as one table.
#ifndef COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_
#define COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_

#include <cstdint>

namespace tritond::compiler::nvidia {

// `binary_arch` is what PTX and cubin name. LLVM 19 ends at sm_90a; newer devices get code generated for `llvm_cpu`,
// which uses no instruction that only sm_90a has, under another name.
struct Architecture {
  int compute_capability;    // 90 for 9.0
  const char* llvm_cpu;      // "sm_90a"
  const char* binary_arch;   // "sm_90a"
  int min_ptx_version;       // the first PTX ISA that knows binary_arch and what is emitted for it, 78 for 7.8
  int64_t max_shared_bytes;  // of one block, after opting in; "CUDA C++ Programming Guide", compute capabilities
};

inline constexpr Architecture kArchitectures[] = {
    {80, "sm_80", "sm_80", 70, 163 * 1024},    {86, "sm_86", "sm_86", 71, 99 * 1024},
    {89, "sm_89", "sm_89", 78, 99 * 1024},     {90, "sm_90a", "sm_90a", 81, 227 * 1024},
    {100, "sm_90", "sm_100a", 86, 227 * 1024}, {120, "sm_90", "sm_120a", 87, 99 * 1024},
};

// The newest PTX ISA that LLVM 19 writes.
inline constexpr int kMaxLlvmPtxVersion = 85;

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_
