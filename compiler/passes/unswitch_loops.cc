// SPDX-License-Identifier: Apache-2.0
// A loop that asks in each iteration what stays the same, before it accesses memory:
//
//   scf.for … {                                    scf.if %first {
//     %v = tt.load %p                                scf.for … { %v = tt.load %p ; … ; tt.store %q, %w }
//     …                                      ->    } else {
//     scf.if %first { tt.store %q, %w }              scf.for … { %v = tt.load %p ; … }
//   }                                              }
//
// One of the two has no branch and accesses less. Its iterations can be unrolled, so that several wait for memory
// together, and their loads begin earlier. Loops with dots stay as they are, and so do long ones: they would be there
// twice.
#include "compiler/ir/contains.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_UNSWITCHLOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

constexpr int kMostOperations = 80;

bool IsLong(ForOp loop) {
  int operations = 0;
  loop.getBody()->walk([&](Operation*) { ++operations; });
  return operations > kMostOperations;
}

bool IsInnermost(ForOp loop) {
  return llvm::none_of(*loop.getBody(), [](Operation& op) { return Contains<ForOp, mlir::scf::WhileOp>(&op); });
}

// Whether there are loads outside of branches, which several iterations could wait for together.
bool Loads(ForOp loop) {
  return llvm::any_of(*loop.getBody(), [](Operation& op) { return llvm::isa<tt::LoadOp>(op); });
}

// The branches of the body that access memory, for one condition that the loop does not change; maybe none.
llvm::SmallVector<IfOp> SameBranches(ForOp loop) {
  llvm::SmallVector<IfOp> found;
  for (IfOp branch : loop.getBody()->getOps<IfOp>()) {
    const Value condition = branch.getCondition();
    if (!loop.isDefinedOutsideOfLoop(condition) || mlir::isMemoryEffectFree(branch)) continue;
    if (found.empty() || found.front().getCondition() == condition) found.push_back(branch);
  }
  return found;
}

// Puts what a branch does for `condition` in its place.
void Decide(IfOp branch, bool condition) {
  if (!condition && branch.getElseRegion().empty()) return branch.erase();
  mlir::Block* block = condition ? branch.thenBlock() : branch.elseBlock();
  Operation* yield = block->getTerminator();
  branch->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  branch->getBlock()->getOperations().splice(branch->getIterator(), block->getOperations());
  branch.erase();
}

void Unswitch(ForOp loop, llvm::ArrayRef<IfOp> branches) {
  mlir::OpBuilder b(loop);
  IfOp choice =
      IfOp::create(b, loop.getLoc(), loop.getResultTypes(), IfOp(branches.front()).getCondition(), /*withElse=*/true);
  for (const bool condition : {true, false}) {
    mlir::Block* block = condition ? choice.thenBlock() : choice.elseBlock();
    mlir::OpBuilder in = mlir::OpBuilder::atBlockBegin(block);
    mlir::IRMapping mapping;
    Operation* copy = in.clone(*loop, mapping);
    for (IfOp branch : branches) Decide(llvm::cast<IfOp>(mapping.lookup(branch.getOperation())), condition);
    if (copy->getNumResults() > 0) mlir::scf::YieldOp::create(in, loop.getLoc(), copy->getResults());
  }
  loop->replaceAllUsesWith(choice);
  loop->erase();
}

struct UnswitchLoopsPass final : impl::UnswitchLoopsPassBase<UnswitchLoopsPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) {
      if (IsInnermost(loop) && !Contains<tt::DotOp, tt::DotScaledOp>(loop) && Loads(loop) && !IsLong(loop))
        loops.push_back(loop);
    });
    for (ForOp loop : loops)
      if (const llvm::SmallVector<IfOp> branches = SameBranches(loop); !branches.empty()) Unswitch(loop, branches);
  }
};

}  // namespace
}  // namespace tritond::compiler
