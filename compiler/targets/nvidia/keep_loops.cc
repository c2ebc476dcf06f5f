// SPDX-License-Identifier: Apache-2.0
// Keeps ptxas from unrolling loops of wgmma. Where it knows the number of iterations, it may unroll them all. It may
// then leave out the last product of accumulators that threads change in between (seen in 12.8 and 13.0):
//
//   for i = 0, 1: { wgmma d += a b;  d = d * s }   ->   wgmma d += a b;  d = d * s;  (no second product)
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

bool HasWgmma(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) { return llvm::any_of(*block, IsWgmma); });
}

}  // namespace

void KeepWgmmaLoops(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (HasWgmma(*loop)) loop->setLoopAlreadyUnrolled();
  }
}

}  // namespace tritond::compiler::nvidia
