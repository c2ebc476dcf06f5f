// SPDX-License-Identifier: Apache-2.0
// A tensor that is loaded before a loop and used again after it keeps its registers all the while. Where the loop needs
// them, it is loaded again, which costs less than registers that go to memory and back:
//
//   %v = tt.load %p : tensor<32768x!tt.ptr<f16>>         %v = tt.load %p : tensor<32768x!tt.ptr<f16>>
//   scf.for … iter_args(%x = %v) { … }             ->    scf.for … iter_args(%x = %v) { … }
//   scf.for … iter_args(%y = %v) { … }                   %w = tt.load %p : tensor<32768x!tt.ptr<f16>>
//                                                        scf.for … iter_args(%y = %w) { … }
//
// Elimination of common subexpressions joins such loads where loops over the same memory were pipelined. Nothing may
// write memory or synchronise from the first load to the second, and nothing in the loop may use the tensor.
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_effects.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_RELOADAFTERLOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::scf::ForOp;

// The operation of the loop's block that uses the value there or within; null: in no operation of that block.
Operation* UserBeside(ForOp loop, mlir::OpOperand& use) {
  return loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
}

bool IsUsedWithin(ForOp loop, tt::LoadOp load) {
  return llvm::any_of(load->getUsers(), [&](Operation* user) { return loop->isProperAncestor(user); });
}

bool OnlyReadsFromTo(Operation* first, Operation* last) {
  for (Operation* op = first; op != last; op = op->getNextNode())
    if (!OnlyReads(op)) return false;
  return true;
}

void ReloadAfter(ForOp loop, tt::LoadOp load) {
  llvm::SmallVector<mlir::OpOperand*> uses;
  Operation* first = nullptr;
  for (mlir::OpOperand& use : load->getUses()) {
    Operation* user = UserBeside(loop, use);
    if (!user || !loop->isBeforeInBlock(user)) continue;
    uses.push_back(&use);
    if (!first || user->isBeforeInBlock(first)) first = user;
  }
  if (!first || !OnlyReadsFromTo(load->getNextNode(), first)) return;
  Operation* again = mlir::OpBuilder(first).clone(*load);
  for (mlir::OpOperand* use : uses) use->set(again->getResult(0));
}

struct ReloadAfterLoopsPass : impl::ReloadAfterLoopsPassBase<ReloadAfterLoopsPass> {
  using ReloadAfterLoopsPassBase::ReloadAfterLoopsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](ForOp loop) {
      const int64_t threads = int64_t{ttg::NumWarps(loop)} * ttg::ThreadsPerWarp(loop);
      const int64_t of_thread = std::min<int64_t>(most_registers, registers / threads);
      const int64_t needed = PeakRegisters(*loop.getBody());
      for (auto load : llvm::make_early_inc_range(loop->getBlock()->getOps<tt::LoadOp>())) {
        if (!load->isBeforeInBlock(loop) || load.getIsVolatile() || IsUsedWithin(loop, load)) continue;
        if (RegistersOf(load) > 1 && needed + RegistersOf(load) > of_thread) ReloadAfter(loop, load);
      }
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
