// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements lie at equal distances along each dimension.
#ifndef COMPILER_TARGETS_INTEL_AFFINE_TENSORS_H_
#define COMPILER_TARGETS_INTEL_AFFINE_TENSORS_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler::intel {

// Element (i, j, …) is base + i strides[0] + j strides[1] + …
struct AffineTensor {
  mlir::Value base;                           // i64, or a pointer
  llvm::SmallVector<mlir::Value, 2> strides;  // i64; of pointers in elements
};

// Elements with an index below `limits`, one for each dimension, i64, are true, and no others.
struct AffineMask {
  llvm::SmallVector<mlir::Value, 2> limits;
};

// What the tensors in the body of `loop` are, as scalars that it emits in front of the loop or in its body. As
// elsewhere index arithmetic is taken not to wrap around. Lives as long as nothing else changes the loop.
class AffineTensors final {
 public:
  explicit AffineTensors(mlir::scf::ForOp loop) : loop_(loop), b_(loop.getContext()) {}

  // Nullopt: it is not known to be affine. Scalars that were emitted by then are not used.
  std::optional<AffineTensor> Of(mlir::Value tensor);
  std::optional<AffineMask> OfMask(mlir::Value mask);

  // i1, before the loop: what the answers so far depend on.
  llvm::ArrayRef<mlir::Value> conditions() const { return conditions_; }

 private:
  std::optional<AffineTensor> Compute(mlir::Value tensor);
  std::optional<AffineTensor> OfCarried(mlir::BlockArgument argument);
  std::optional<AffineTensor> OfSum(mlir::Operation* op, mlir::Value x, mlir::Value y, bool is_difference);
  std::optional<AffineTensor> OfProduct(mlir::Operation* op);
  std::optional<AffineTensor> OfRemainder(mlir::Operation* op);
  std::optional<AffineTensor> OfBroadcast(mlir::Operation* op, mlir::Value source);
  std::optional<AffineMask> OfComparison(mlir::arith::CmpIOp op);

  // The least value that `scalar` has in the loop, emitted before it; null: not known.
  mlir::Value LeastOf(mlir::Value scalar);

  // Sets the place for scalars of `op` that take `operands`.
  void GoTo(mlir::Operation* op, mlir::ValueRange operands);
  mlir::Value Int(int64_t value);
  mlir::Value Extend(mlir::Operation* op, mlir::Value scalar);
  mlir::Value Add(mlir::Operation* op, mlir::Value x, mlir::Value y);

  mlir::scf::ForOp loop_;
  mlir::OpBuilder b_;
  llvm::DenseMap<mlir::Value, std::optional<AffineTensor>> known_;
  llvm::SmallVector<mlir::Value> conditions_;
};

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_AFFINE_TENSORS_H_
