// SPDX-License-Identifier: Apache-2.0
// How the threads of a block share the accumulators of a dot that is computed by multiply-adds, and what that costs.
//
// Operands come from shared memory in groups of 16 bytes:
//   - K contiguous: a group is some k of one row of a. Rows of a thread lie apart, those of neighbouring lanes
//   together,
//     for the swizzle of buffers gives eight neighbouring rows different banks;
//   - else a group is neighbouring rows at one k: the thread has as many of them together.
// Such an access serves a quarter of the warp at a time. Where each two neighbouring lanes read the same, or else each
// two lanes at a distance of two, it serves a half. Two lanes along one dimension, which come first, allow that for
// both operands:
//
//   threadsPerWarp = [16, 2], order = [1, 0]      a: lanes 0 and 1 read the same row;    b: lanes 0 and 2 the same
//   column
#ifndef COMPILER_DOTS_ACCUMULATOR_SHARING_H_
#define COMPILER_DOTS_ACCUMULATOR_SHARING_H_

#include <tuple>

#include "compiler/ir/encodings.h"

namespace tritond::compiler {

// What the device does in a cycle.
struct SharingRates {
  int64_t shared_bytes = 128;      // that shared memory moves
  int64_t issued_warps = 4;        // that issue an instruction
  bool pairs_share_reads = false;  // a wide access serves a half of the warp where lanes read the same as above
};

// An operand as its buffer in shared memory holds it. "Rows" are columns for operand b.
struct SumOperand {
  SumOperand(mlir::Type element, bool k_is_contiguous);

  int64_t group = 1;  // elements of a wide access
  bool k_is_contiguous = false;
};

// One way to share the accumulators: of rows (0) and columns (1).
struct AccumulatorSharing {
  // Rows or columns of a thread, and how many of them lie together.
  int64_t Left(int side) const;
  int64_t Run(int side, const SumOperand& operand) const;
  // The encoding of a matrix of accumulators.
  ttg::BlockedEncodingAttr Encoding(mlir::MLIRContext* context, llvm::ArrayRef<SumOperand> operands) const;
  // The same for batches, which so many lanes and warps share.
  ttg::BlockedEncodingAttr BatchEncoding(mlir::MLIRContext* context, llvm::ArrayRef<SumOperand> operands,
                                         unsigned batch_lanes, unsigned batch_warps) const;

  int64_t size[2], lanes[2], warps[2];
  bool columns_first = true;  // in the numbers of lanes and warps
};

// Of the multiply-adds of one thread with one group of K. A cycle is one in which a warp issues an instruction.
struct AccumulatorCost {
  auto Key() const { return std::tie(cycles, reads, registers); }

  int64_t cycles = 0;     // by what takes longer: to issue instructions, or to read shared memory
  int64_t reads = 0;      // cycles of shared memory
  int64_t registers = 0;  // that hold operands
};

struct SharedAccumulators {
  AccumulatorSharing sharing;
  AccumulatorCost cost;
};

// The best of all ways; of equals the one whose lanes are the most nearly square, first along columns.
SharedAccumulators ShareAccumulators(int64_t rows, int64_t columns, unsigned lanes, unsigned warps,
                                     llvm::ArrayRef<SumOperand> operands, const SharingRates& rates);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_ACCUMULATOR_SHARING_H_
