// SPDX-License-Identifier: Apache-2.0
// ptxas computes the lesser one of two halves with an instruction for pairs of halves, and compares it with what it was
// computed from by the same instruction. This writes the predicates of both halves to one register, where that of the
// upper half, in which nothing is, stays (seen in 12.8 and 13.0):
//
//   min.s16 %m, %x, 0;  setp.eq.b16 %p, %m, 0;   ->   VIMNMX.S16x2 m, P0, P0, x, RZ
//
// So the greater and lesser ones of integers of at most 16 bits are computed in 32 bits.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kHalfBits = 16;

}  // namespace

void WidenExtrema(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* extremum = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
      if (!extremum || !extremum->getType()->isIntegerTy() || extremum->getType()->getIntegerBitWidth() > kHalfBits)
        continue;
      llvm::IRBuilder<> b(extremum);
      const auto wide = [&](llvm::Value* value) {
        return b.CreateIntCast(value, b.getInt32Ty(), extremum->isSigned());
      };
      llvm::Value* result =
          b.CreateBinaryIntrinsic(extremum->getIntrinsicID(), wide(extremum->getLHS()), wide(extremum->getRHS()));
      extremum->replaceAllUsesWith(b.CreateTrunc(result, extremum->getType()));
      extremum->eraseFromParent();
    }
  }
}

}  // namespace tritond::compiler::nvidia
