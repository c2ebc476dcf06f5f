// SPDX-License-Identifier: Apache-2.0
// Makes one rounding of a multiplication and the addition that takes it, where the multiplication goes away by it:
//
//   %m = fmul %a, %b ; %s = fadd %m, %c       ->   %s = fma %a, %b, %c
//
// LLVM's back end for NVPTX would fuse every addition, also where something else needs the product. That saves nothing
// and costs registers: both factors stay alive beside the product. In attention every score is such a product, for the
// maximum and for the exponent.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

bool IsSum(const Instruction& instruction) {
  return instruction.getOpcode() == Instruction::FAdd || instruction.getOpcode() == Instruction::FSub;
}

// Whether fused additions would leave no use of the product. Only in its own block: elsewhere, in a loop after it, its
// factors would live longer than it did.
bool EndsInSums(const Instruction& product) {
  return !product.use_empty() && llvm::all_of(product.users(), [&](const llvm::User* user) {
    auto* sum = llvm::dyn_cast<Instruction>(user);
    return sum && IsSum(*sum) && sum->getParent() == product.getParent() && sum->getOperand(0) != sum->getOperand(1);
  });
}

// `sum`, one operand of which is `product`, as one operation.
Value* Fused(Instruction& sum, Instruction& product) {
  llvm::IRBuilder<> b(&sum);
  llvm::FastMathFlags flags = sum.getFastMathFlags();
  flags &= product.getFastMathFlags();
  b.setFastMathFlags(flags);
  const bool is_first = sum.getOperand(0) == &product;
  Value *factor = product.getOperand(0), *other = sum.getOperand(is_first ? 1 : 0);
  if (sum.getOpcode() == Instruction::FSub) (is_first ? other : factor) = b.CreateFNeg(is_first ? other : factor);
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {factor, product.getOperand(1), other});
}

void FuseInto(Instruction& product) {
  llvm::SmallVector<llvm::User*, 4> users(product.users());
  for (llvm::User* user : users) {
    auto& sum = *llvm::cast<Instruction>(user);
    Value* fused = Fused(sum, product);
    fused->takeName(&sum);
    sum.replaceAllUsesWith(fused);
    sum.eraseFromParent();
  }
  product.eraseFromParent();
}

}  // namespace

void FuseMultiplyAdds(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) {
      llvm::SmallVector<Instruction*> products;
      for (Instruction& instruction : block)
        if (instruction.getOpcode() == Instruction::FMul) products.push_back(&instruction);
      for (Instruction* product : products)
        if (EndsInSums(*product)) FuseInto(*product);
    }
}

}  // namespace tritond::compiler::nvidia
