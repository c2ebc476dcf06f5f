// SPDX-License-Identifier: Apache-2.0
// A product of two numbers of 32 bits that are both extended with their signs is one instruction, mul.wide.s32. LLVM
// extends a number that is never negative with zeros, and then the product takes three:
//
//   mul i64 (zext nneg i32 %i), (sext i32 %stride)   ->   mul i64 (sext i32 %i), (sext i32 %stride)
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {

void SignProducts(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*> products;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (instruction.getOpcode() == llvm::Instruction::Mul) products.push_back(&instruction);
  for (llvm::Instruction* product : products) {
    for (unsigned side : {0U, 1U}) {
      auto* extended = llvm::dyn_cast<llvm::ZExtInst>(product->getOperand(side));
      if (!extended || !extended->hasNonNeg() || !llvm::isa<llvm::SExtInst>(product->getOperand(1 - side))) continue;
      llvm::IRBuilder<> b(product);
      product->setOperand(side, b.CreateSExt(extended->getOperand(0), extended->getType()));
    }
  }
}

}  // namespace tritond::compiler::nvidia
