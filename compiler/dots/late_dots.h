// SPDX-License-Identifier: Apache-2.0
// Dots that a loop may issue an iteration late, beside the dots of the next one.
#ifndef COMPILER_DOTS_LATE_DOTS_H_
#define COMPILER_DOTS_LATE_DOTS_H_

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// What goes to the next iteration with a dot, and what does not. In attention that is the product with V:
//
//   %s = tt.dot %q, %k, %zero                   stays
//   %p = math.exp2 … %s …                       stays; %p waits in registers
//   %r = arith.mulf %acc, %alpha                `operations`
//   %v = tt.load …                              `load`: it starts an iteration later
//   %d = tt.dot %p, %v, %r                      `operations`
//   scf.yield %d
struct LateDot {
  tt::DotOp dot;
  llvm::SetVector<mlir::Operation*> operations;  // with what scales its accumulators, and the dot itself
  llvm::SetVector<mlir::Operation*> feeding;     // the dots that make its operand a, and what these are made of
  tt::LoadOp load;                               // of its operand b, which nothing else reads
};

// The dot of `loop` that may be late, if there is one alone:
// - Threads make its operand a of another dot's result. A load makes b, by way of views.
// - It runs beside threads, and its iteration does not use its accumulators, but for what scales them before it.
std::optional<LateDot> FindLateDot(mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_LATE_DOTS_H_
