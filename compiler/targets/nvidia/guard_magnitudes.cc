// SPDX-License-Identifier: Apache-2.0
// ptxas takes the comparison of a magnitude with a negative number for decided, also where the magnitude is NaN (seen
// in 13.0):
//
//   abs.f32 %a, %x;  setp.gt.f32 %p, %a, -0.25;   ->   true
//
// Such a comparison tells whether its operand is a number, or is decided. It is written as what it tells.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {

void GuardMagnitudes(llvm::Module& module) {
  using llvm::FCmpInst;
  using namespace llvm::PatternMatch;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* compare = llvm::dyn_cast<FCmpInst>(&instruction);
      if (!compare) continue;
      FCmpInst::Predicate predicate = compare->getPredicate();
      llvm::Value *x = nullptr, *left = compare->getOperand(0), *right = compare->getOperand(1);
      if (match(right, m_FAbs(m_Value(x)))) {
        std::swap(left, right);
        predicate = FCmpInst::getSwappedPredicate(predicate);
      }
      const llvm::APFloat* bound = nullptr;
      if (!match(left, m_FAbs(m_Value(x))) || !match(right, m_APFloat(bound))) continue;
      if (!bound->isNegative() || bound->isZero() || bound->isNaN()) continue;
      // Of numbers, each magnitude is greater than the bound.
      const bool of_numbers = (predicate & FCmpInst::FCMP_OGT) != 0, of_nan = (predicate & FCmpInst::FCMP_UNO) != 0;
      if (of_numbers == of_nan) continue;
      llvm::IRBuilder<> b(compare);
      llvm::Value* zero = llvm::Constant::getNullValue(x->getType());
      compare->replaceAllUsesWith(of_numbers ? b.CreateFCmpORD(x, zero) : b.CreateFCmpUNO(x, zero));
      compare->eraseFromParent();
    }
}

}  // namespace tritond::compiler::nvidia
