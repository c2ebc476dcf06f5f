// SPDX-License-Identifier: Apache-2.0
// Which dimensions of a kernel's tensors have to be divided alike, if they are divided at all.
//
// The rows of a product's result are those of its operand a, of what is stored, and of the pointers to both: these are
// one group. So blocks of a cluster can have a part each of all of them. The columns of a are the rows of b, and a dot
// needs all of them: nobody can have a part.
#ifndef COMPILER_ANALYSIS_TIED_DIMENSIONS_H_
#define COMPILER_ANALYSIS_TIED_DIMENSIONS_H_

#include <utility>
#include <vector>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

// The shape of a tensor, of the block that a block pointer or a descriptor names; empty for what has none.
llvm::ArrayRef<int64_t> BlockShapeOf(mlir::Type type);
// The same type with another shape.
mlir::Type WithBlockShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);

// The value whose shape the access of global memory by `op` has; null for other operations.
mlir::Value BlockAccessedBy(mlir::Operation* op);

// Whether each user of `value` may have a copy of its own, which takes next to nothing: numbers that count up, and
// copies of a scalar. Those tie their users' dimensions only where these share one.
bool IsGenerated(mlir::Value value);

class TiedDimensions final {
 public:
  using Member = std::pair<mlir::Value, int>;  // a value, and one of its dimensions

  explicit TiedDimensions(tt::FuncOp function);

  // Whether no operation needs all elements along dimensions of `group` at once.
  bool MayDivide(unsigned group) const { return !is_whole_[group]; }
  // The members of each group. A dimension that is tied to no other is a group of its own.
  const std::vector<std::vector<Member>>& groups() const { return groups_; }

 private:
  unsigned NodeOf(mlir::Value value, int dimension);
  void Tie(mlir::Value a, int of_a, mlir::Value b, int of_b);
  void KeepWhole(mlir::Value value, int dimension);
  void KeepWhole(mlir::Value value);
  // Ties equal dimensions of all values with a shape.
  void TieAll(llvm::ArrayRef<mlir::Value> values);
  void TieAll(mlir::ValueRange a, mlir::ValueRange b);
  void TieOp(mlir::Operation* op);
  bool TieShapes(mlir::Operation* op);
  bool TieBlocks(mlir::Operation* op);
  bool TieControlFlow(mlir::Operation* op);
  void TieReshape(tt::ReshapeOp op);
  void TieProduct(mlir::Value a, mlir::Value b, mlir::Value c, mlir::Value d);

  llvm::MapVector<Member, unsigned> nodes_;
  llvm::IntEqClasses classes_;
  std::vector<unsigned> whole_;  // nodes
  std::vector<bool> is_whole_;   // by group
  std::vector<std::vector<Member>> groups_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_TIED_DIMENSIONS_H_
