// SPDX-License-Identifier: Apache-2.0
// Parts of a reduction: what a thread holds of a tensor's axis, combined without a word to other threads.
//
// The axis index of an element is a row of bits. Under most encodings, each is told by one bit of the register, the
// lane or the warp. Groups of such bits become dimensions by a reshape, and a transposition brings those of registers
// together:
//
//   64x128, bits of 128: register, 5 lanes, register       64x2x32x2 -> 64x32x2x2 -> 64x32x4 -> reduce axis 2 -> 64x32
//
// None of this moves an element.
#ifndef COMPILER_PASSES_THREAD_PARTS_H_
#define COMPILER_PASSES_THREAD_PARTS_H_

#include <cstdint>
#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// Bits of an axis index, from the highest: of registers or of lanes, warps and blocks.
struct AxisGroup {
  int64_t size;
  bool in_thread;
};

// Nullopt where a bit of the axis index does not belong to one place alone.
std::optional<llvm::SmallVector<AxisGroup>> AxisGroups(mlir::RankedTensorType type, unsigned axis);

// Whether some of the bits are not of registers.
bool CrossesThreads(llvm::ArrayRef<AxisGroup> groups);

// A reduction as `like`, of another tensor along another axis.
mlir::Value ReduceLike(mlir::OpBuilder& b, tt::ReduceOp like, mlir::Value value, unsigned axis);

// The operand of `reduce` with what each thread holds of its axis combined; null where an encoding cannot be said.
mlir::Value ReduceInThread(mlir::OpBuilder& b, tt::ReduceOp reduce, llvm::ArrayRef<AxisGroup> groups);

// The reverse: a tensor of `type`, each of whose elements is the part that its thread has of `axis`; null where an
// encoding cannot be said.
mlir::Value RepeatInThread(mlir::OpBuilder& b, mlir::Value parts, mlir::RankedTensorType type, unsigned axis,
                           llvm::ArrayRef<AxisGroup> groups);

// A tensor along all dimensions of `type` but `axis`, or a scalar, repeated along that one.
mlir::Value RepeatAlong(mlir::OpBuilder& b, mlir::Value value, unsigned axis, mlir::RankedTensorType type);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_THREAD_PARTS_H_
