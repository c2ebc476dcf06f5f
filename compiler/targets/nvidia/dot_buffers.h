// SPDX-License-Identifier: Apache-2.0
// The buffers of dots in flight, and who may write them meanwhile.
#ifndef COMPILER_TARGETS_NVIDIA_DOT_BUFFERS_H_
#define COMPILER_TARGETS_NVIDIA_DOT_BUFFERS_H_

#include "compiler/analysis/alias.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether `op` yields another view of its operand's memory.
bool IsView(mlir::Operation* op);
// What `buffer` is a view of, in the end.
mlir::Value RootOf(mlir::Value buffer);

// The operands that a dot reads from shared memory.
llvm::SmallVector<mlir::Value> BuffersOf(ttng::WarpGroupDotOp dot);

// Whether the dot is one of tcgen05, whose accumulators may be in tensor memory.
bool HasTensorMemory(ttng::WarpGroupDotOp dot);

// Whether `op`, what is in its regions included, may write what `dot` reads. It runs `iterations` iterations after the
// dot of the loop whose body holds both. Calls may write anything.
bool MayWrite(mlir::Operation* op, ttng::WarpGroupDotOp dot, int iterations, const BufferAliases& aliases);
// The same of what another operation in the body of `loop` accesses: `buffers`. Null: it is in no loop.
bool MayWrite(mlir::Operation* op, llvm::ArrayRef<mlir::Value> buffers, mlir::scf::ForOp loop, int iterations,
              const BufferAliases& aliases);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_DOT_BUFFERS_H_
