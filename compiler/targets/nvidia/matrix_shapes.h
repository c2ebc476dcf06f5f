// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of NVIDIA GPUs. A warp runs mma.sync, and a group of four warps runs wgmma. One thread runs
// tcgen05.mma, with accumulators in tensor memory. See PTX ISA, "Warp level matrix instructions", "Asynchronous
// warpgroup level matrix instructions", "TensorCore 5th Generation Family Instructions".
#ifndef COMPILER_TARGETS_NVIDIA_MATRIX_SHAPES_H_
#define COMPILER_TARGETS_NVIDIA_MATRIX_SHAPES_H_

#include <vector>

#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/target_info.h"

namespace tritond::compiler::nvidia {

// Rows and columns of mma.sync's accumulators; of a group's, where the most columns are given.
inline constexpr int kTileM = 16, kTileN = 8, kGroupTileM = 64, kMaxGroupTileN = 256;
// Of an operand along K, but of f64.
inline constexpr int kTileKBytes = 32;
// Elements of `bits` bits along K that a register, or a pair of registers, holds.
constexpr int WordElements(unsigned bits) { return bits < 32 ? static_cast<int>(32 / bits) : 1; }
// What a lane reads of an operand in one access to shared memory, at most.
inline constexpr unsigned kMaxLaneReadBits = 128;

// Elements along K that have one scale: OCP Microscaling Formats 1.0, and NVIDIA's format of e2m1 with scales of e4m3.
inline constexpr int kScaleGroup = 32, kNarrowScaleGroup = 16;

// Generations that have wgmma.
inline constexpr int kFirstWithWgmma = 90, kLastWithWgmma = 90;

// Generations that have tcgen05; rows of its accumulators, the columns of tensor memory.
inline constexpr int kFirstWithTensorMemory = 100, kLastWithTensorMemory = 100;
inline constexpr int kTensorTileM = 128, kHalfTensorTileM = 64, kTensorColumns = 512;

std::vector<MatrixShape> MatrixShapesOf(const Architecture& arch);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_MATRIX_SHAPES_H_
