// SPDX-License-Identifier: Apache-2.0
// Accesses to a block of a tensor in memory, spelled out as tensors of pointers and masks.
#ifndef COMPILER_ENCODING_BLOCK_ACCESS_H_
#define COMPILER_ENCODING_BLOCK_ACCESS_H_

#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tritond::compiler {

// Which elements along a dimension: `size` of them from `start` (i64) on, or, of size 0, those that `start` lists
// (tensor<n x i64>).
struct BlockIndices {
  mlir::Value start;
  int64_t size = 0;

  bool IsList() const { return size == 0; }
};

// Elements of a tensor at `base`: one entry for each dimension in each list. Counted in elements.
struct BlockAccess {
  mlir::Value base;                        // pointer to an element
  llvm::SmallVector<mlir::Value> shape;    // i64
  llvm::SmallVector<mlir::Value> strides;  // i64
  llvm::SmallVector<BlockIndices> indices;
  // The dimension of the tensor of pointers that it lies along. Neighbours may lie along one: blocks of sizes 8 and 16
  // are 128 rows. Empty: each has its own.
  llvm::SmallVector<int> axes = {};
};

// Each function creates operations at the builder's insertion point.

// `values` (integers or tensors of them), sign-extended to i64.
llvm::SmallVector<mlir::Value> ExtendToI64(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange values);
// Pointers to the elements: a tensor whose sizes are those of the indices along each axis. Where the block starts is in
// the base, a scalar: so in a loop that moves the block on, what depends on the element stays as it is. It is not for
// neighbours in memory, of which a thread has groups with one address: for them the scalar would cost more than it
// saves.
mlir::Value BlockPointers(mlir::OpBuilder& b, mlir::Location loc, const BlockAccess& access);
// 0 <= index < shape along each of `dims`, as a tensor of i1; null without dims. Of a block, its own numbers are
// compared, in 32 bits, with scalars that say how much of it is inside; not those of neighbours, for the same reason.
mlir::Value BlockMask(mlir::OpBuilder& b, mlir::Location loc, const BlockAccess& access, llvm::ArrayRef<int32_t> dims);
// The value that an operand of a type that stays as it is has become.
inline mlir::Value OnlyPart(mlir::ValueRange parts) { return llvm::getSingleElement(parts); }
llvm::SmallVector<mlir::Value> OnlyParts(llvm::ArrayRef<mlir::ValueRange> operands);
// Replaces the values whose types `converter` takes apart by their parts. `patterns` rewrite the accesses. The
// function's own patterns rewrite the operations through which pointers and descriptors pass: scf loops and branches,
// calls, returns, function signatures, selects. Fails, with a diagnostic, where an operation has no pattern.
mlir::LogicalResult TakeApart(mlir::Operation* root, const mlir::TypeConverter& converter,
                              mlir::RewritePatternSet patterns);
// Fails, with a diagnostic, if a value whose type satisfies `is_carried` goes through anything but those operations
// and the ones for which `is_access` holds.
mlir::LogicalResult CheckCarriers(mlir::Operation* root, llvm::StringRef what,
                                  llvm::function_ref<bool(mlir::Type)> is_carried,
                                  llvm::function_ref<bool(mlir::Operation*)> is_access);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_BLOCK_ACCESS_H_
