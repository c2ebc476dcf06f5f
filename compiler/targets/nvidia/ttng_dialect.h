// SPDX-License-Identifier: Apache-2.0
// The ttng dialect (ttng_ops.td).
#ifndef COMPILER_TARGETS_NVIDIA_TTNG_DIALECT_H_
#define COMPILER_TARGETS_NVIDIA_TTNG_DIALECT_H_

#include <optional>

#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/nvidia/ttng_dialect.h.inc"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::ttng {

// What dots in flight change: the order of the groups.
struct WarpGroupDots : mlir::SideEffects::Resource::Base<WarpGroupDots> {
  llvm::StringRef getName() final { return "WarpGroupDots"; }
};

// Accumulators of tcgen05.
struct TensorMemory : mlir::SideEffects::Resource::Base<TensorMemory> {
  llvm::StringRef getName() final { return "TensorMemory"; }
};

}  // namespace tritond::ttng

#define GET_OP_CLASSES
#include "compiler/targets/nvidia/ttng_ops.h.inc"

namespace tritond::ttng {

// PTX ISA, wgmma.wait_group: N.
inline constexpr unsigned kMostPending = 7;

// The element type of a tensor or a buffer.
mlir::Type ElementOf(mlir::Type type);

// wgmma keeps about 14 bits of the sums of 8-bit floats. So after so many elements along K threads add them to sums of
// their own (maxNumImpreciseAcc); 0: never.
int64_t PromotionK(WarpGroupDotOp dot);

// Whether wgmma adds to the dot's result where it is, so that the dot can stay in flight; others are rounded
// afterwards, or added.
bool AddsToResult(WarpGroupDotOp dot);

// The elements along K that one wgmma multiplies: 32 bytes.
int64_t InstructionK(mlir::Type operand);

// The rows of one tcgen05.mma of a dot with so many rows; the columns of tensor memory that its accumulators take.
int64_t TensorRows(int64_t rows);
int64_t TensorColumns(int64_t rows, int64_t columns);

// A buffer of so many words one after the other, for mbarriers and the like: mutable, in shared memory.
ttg::MemDescType PlainBufferType(llvm::ArrayRef<int64_t> shape, mlir::Type word);

// Whether wgmma can read an operand whose K is dimension `k` of a buffer of this type. The buffer must be nvmma_shared,
// swizzled, whole, and with K contiguous unless the elements have 16 bits (PTX ISA, "Asynchronous warpgroup level
// matrix instructions").
bool IsReadable(ttg::MemDescType type, unsigned k);

}  // namespace tritond::ttng

#endif  // COMPILER_TARGETS_NVIDIA_TTNG_DIALECT_H_
