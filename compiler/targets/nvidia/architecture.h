// SPDX-License-Identifier: Apache-2.0
// What differs between generations of NVIDIA GPUs, as one table.
#ifndef COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_
#define COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_

#include <cstdint>

namespace tritond::compiler::nvidia {

struct Architecture {
  int compute_capability;  // 90 for 9.0
  const char* name;        // "sm_90a", as LLVM, PTX and cubin have it
  int min_ptx_version;     // the first PTX ISA that knows it and what is emitted for it, 78 for 7.8
  // "CUDA C++ Programming Guide", compute capabilities:
  int64_t max_shared_bytes;  // of one block, after opting in
  int max_warps;             // of a multiprocessor
  int max_blocks;            // of a multiprocessor
  int multiprocessors;       // of the largest device: A100, RTX A6000, L40S, H200, B200, RTX PRO 6000
  // NVIDIA's data sheets of these devices:
  double clock;         // GHz, at which peak rates are given
  double memory_bytes;  // GB/s
  int64_t cache_bytes;  // of the second cache
  // Multiply-adds of 16-bit operands in a cycle of a multiprocessor; 0: not known. By mma.sync, which on 9.0 is
  // slower than the data sheet's rate; by wgmma or tcgen05.
  int mma_products, group_products;
};

inline constexpr Architecture kArchitectures[] = {
    {80, "sm_80", 75, 163 * 1024, 64, 32, 108, 1.41, 2039, 40 << 20, 1024, 0},
    {86, "sm_86", 75, 99 * 1024, 48, 16, 84, 1.80, 768, 6 << 20, 512, 0},
    {89, "sm_89", 78, 99 * 1024, 48, 24, 142, 2.52, 864, 96 << 20, 512, 0},
    {90, "sm_90a", 81, 227 * 1024, 64, 32, 132, 1.83, 4800, 50 << 20, 1024, 2048},
    {100, "sm_100a", 86, 227 * 1024, 64, 32, 148, 1.85, 8000, 126 << 20, 0, 4096},
    {120, "sm_120a", 87, 99 * 1024, 48, 24, 188, 2.62, 1792, 128 << 20, 512, 0},
};

// Words of a multiprocessor; "CUDA C++ Programming Guide", compute capabilities 8.0 to 12.0.
inline constexpr int64_t kRegisters = 64 * 1024;
// Words in which a warp gets registers, and bytes in which a block gets shared memory; what the system has of each
// block's shared memory. A multiprocessor has shared memory for one block that takes the most.
inline constexpr int64_t kRegisterUnit = 256, kSharedUnit = 128, kReservedSharedBytes = 1024;

// Measured on an H200, in nanoseconds: a load from memory under load; launches of empty blocks, one after the other.
inline constexpr double kMemoryLatency = 700, kBlockLaunch = 0.61;

// Warps of a group; PTX ISA, "warpgroup".
inline constexpr int kWarpsOfGroup = 4;

// Compute capabilities from which on there is more.
inline constexpr int kFirstWithNarrowDots = 89;  // of 8-bit floats
// Whether mma.sync multiplies 8-bit floats itself. From 90 on ptxas makes it of conversions, products of f16 and sums.
inline constexpr bool HasNarrowWarpDots(int compute_capability) {
  return compute_capability == 89 || compute_capability >= 120;
}
inline constexpr int kFirstWithClusters = 90, kFirstWithVectorAtomics = 90, kFirstWithMatrixStores = 90;
inline constexpr int kFirstWithWarpGroups = 90;    // that exchange registers
inline constexpr int kFirstWithLargeF64Dots = 90;  // m16n8k8 and m16n8k16
inline constexpr int kFirstWithBlockScales = 120;  // of mma.sync

// The newest PTX ISA that LLVM writes.
inline constexpr int kMaxLlvmPtxVersion = 90;

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_ARCHITECTURE_H_
