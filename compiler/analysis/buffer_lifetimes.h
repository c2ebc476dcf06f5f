// SPDX-License-Identifier: Apache-2.0
// When the buffers of a function are in use.
#ifndef COMPILER_ANALYSIS_BUFFER_LIFETIMES_H_
#define COMPILER_ANALYSIS_BUFFER_LIFETIMES_H_

#include "compiler/analysis/alias.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tritond::compiler {

// Steps [first, last) of a function.
struct Steps {
  int first = 0;
  int last = 0;
};

// Numbers the operations of a function in textual order, one step each. Gives every buffer one interval of steps that
// covers all points where its content may still be read. It reaches from allocation to last use of any view, and covers
// all of a loop that carries the buffer around. A buffer that asynchronous copies fill lives until a wait for all
// copies that none of them passes by. To the end of the function without one. A buffer that partitions capture lives
// until they are waited for. Steps of a partition count for its own buffers: while it runs, other code runs too. The
// function may hold cf or scf control flow.
class BufferLifetimes final {
 public:
  BufferLifetimes(mlir::FunctionOpInterface function, const BufferAliases& aliases);

  // `op` alone, without its regions: when scratch is in use.
  Steps Of(mlir::Operation* op) const { return {first_.lookup(op), first_.lookup(op) + 1}; }
  Steps Of(ttg::LocalAllocOp allocation) const { return lifetimes_.lookup(allocation); }
  // From the start of the partitions to where the last of the ways from there waits for their end.
  Steps Of(ttg::StartPartitionsOp start) const;

 private:
  Steps Compute(ttg::LocalAllocOp allocation) const;
  void AddEndsOfPartitions(llvm::SmallVectorImpl<mlir::Operation*>& uses) const;
  void AddEndsOfCopies(llvm::SmallVectorImpl<mlir::Operation*>& uses) const;
  // The same of the copies that the threads of one region have started.
  void AddEndOfCopies(mlir::Region* region, llvm::ArrayRef<mlir::Operation*> copies,
                      llvm::SmallVectorImpl<mlir::Operation*>& uses) const;
  Steps WithRegions(mlir::Operation* op) const { return {first_.lookup(op), end_.lookup(op)}; }
  // The interval among the blocks of `region`, where `begin` holds the allocation. `fresh`: no use after `begin` reads
  // what was written before it.
  Steps InBlocks(mlir::Region* region, llvm::ArrayRef<mlir::Operation*> uses, mlir::Operation* begin, bool fresh) const;

  const BufferAliases& aliases_;
  mlir::FunctionOpInterface function_;
  llvm::DenseMap<mlir::Operation*, int> first_, end_;
  llvm::DenseMap<mlir::Operation*, Steps> lifetimes_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_BUFFER_LIFETIMES_H_
