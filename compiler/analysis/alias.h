// SPDX-License-Identifier: Apache-2.0
// Which buffers in shared memory a value may be a view of.
#ifndef COMPILER_ANALYSIS_ALIAS_H_
#define COMPILER_ANALYSIS_ALIAS_H_

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tritond::compiler {

// The buffers that the !ttg.memdesc values of one function view, through views, scf and cf. A view is the result of an
// operation that takes a buffer and yields one. Holds while the function does not change.
class BufferAliases final {
 public:
  explicit BufferAliases(mlir::FunctionOpInterface function);

  // The allocations in the function, in its order.
  llvm::ArrayRef<ttg::LocalAllocOp> Allocations() const { return allocations_; }
  // The allocations that `buffer` may be a view of; empty for parameters of the function and other types.
  llvm::ArrayRef<mlir::Operation*> Of(mlir::Value buffer) const;
  // All values that may be views of `allocation`, itself included, in order of the function.
  llvm::SmallVector<mlir::Value> Views(ttg::LocalAllocOp allocation) const;

 private:
  using Owners = llvm::SmallVector<mlir::Operation*, 1>;

  bool Flow(mlir::Value from, mlir::Value to);
  bool FlowThroughRegions(mlir::Operation* op);
  bool FlowThroughBranch(mlir::Operation* op);
  bool FlowThroughAll(llvm::ArrayRef<mlir::Operation*> carriers);

  llvm::SmallVector<ttg::LocalAllocOp, 0> allocations_;
  llvm::DenseMap<mlir::Value, Owners> owners_;
  llvm::SmallVector<mlir::Value, 0> order_;  // keys of owners_ as they were found
};

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_ALIAS_H_
