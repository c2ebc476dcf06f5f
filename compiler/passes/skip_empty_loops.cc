// SPDX-License-Identifier: Apache-2.0
// The programs of a grid may share tiles by a loop that starts at a program's own number. A launch of more programs
// than there are tiles leaves some without any:
//
//   %splat = tt.splat %p                                 %some = arith.cmpi slt, %pid, %tiles
//   scf.for %tile = %pid to %tiles step %programs {  ->  scf.if %some {
//     … tt.load …                                          %splat = tt.splat %p
//   }                                                      scf.for %tile = %pid to %tiles step %programs { … }
//                                                        }
//
// Such programs should end at once. What loops do not change is computed in front of them, and so are the first
// addresses and masks of loads that begin iterations earlier. In the branch they are not computed for nothing. What
// only the loop needs follows it there, but for reads of memory. The branch costs nothing else: a loop asks the same.
//
// Loops with dots stay as they are: such kernels launch as many programs as there is work for.
#include "compiler/ir/contains.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_iterations.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SKIPEMPTYLOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

// Whether `value` is computed from a program's number, and not from memory.
bool DependsOnProgram(Value value) {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  bool found = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    Operation* op = sources[i].getDefiningOp();
    if (!op) continue;
    found |= llvm::isa<tt::GetProgramIdOp>(op);
    if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) return false;
    sources.insert(op->operand_begin(), op->operand_end());
  }
  return found;
}

bool MayBeEmpty(ForOp loop) {
  return llvm::isa<tt::FuncOp>(loop->getParentOp()) && loop->use_empty() && !CertainlyRuns(loop) &&
         !Contains<tt::DotOp, tt::DotScaledOp>(loop) && DependsOnProgram(loop.getLowerBound());
}

// Moves what only `branch` uses into it.
void SinkInto(mlir::scf::IfOp branch) {
  llvm::SmallVector<Operation*> before;
  for (Operation& op : llvm::make_range(branch->getBlock()->begin(), branch->getIterator())) before.push_back(&op);
  for (Operation* op : llvm::reverse(before)) {
    auto is_inside = [&](Operation* user) { return branch.getThenRegion().isAncestor(user->getParentRegion()); };
    if (op->use_empty() || !mlir::isMemoryEffectFree(op) || !llvm::all_of(op->getUsers(), is_inside)) continue;
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  }
}

void Guard(ForOp loop) {
  mlir::OpBuilder b(loop);
  const auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value some = arith::CmpIOp::create(b, loop.getLoc(), below, loop.getLowerBound(), loop.getUpperBound());
  auto branch = mlir::scf::IfOp::create(b, loop.getLoc(), some, /*withElseRegion=*/false);
  loop->moveBefore(branch.thenBlock()->getTerminator());
  SinkInto(branch);
}

struct SkipEmptyLoopsPass final : impl::SkipEmptyLoopsPassBase<SkipEmptyLoopsPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) {
      if (MayBeEmpty(loop)) loops.push_back(loop);
    });
    for (ForOp loop : loops) Guard(loop);
  }
};

}  // namespace
}  // namespace tritond::compiler
