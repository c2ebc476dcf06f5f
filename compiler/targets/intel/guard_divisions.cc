// SPDX-License-Identifier: Apache-2.0
// A division by zero has some result on the device, and so has one by what a load with a false mask left. To LLVM both
// end all meaning: it would conclude that the mask is true, and drop it. So divisors that are not constants become
// numbers that LLVM knows to be no trouble:
//
//   %q = sdiv i32 %x, %y
//   ->
//   %f = freeze i32 %y
//   %d = select (icmp eq %f, 0), 1, %f                   of signed divisions also where %f is -1 and %x the least
//   integer %q = sdiv i32 %x, %d
#include "compiler/targets/intel/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

namespace tritond::compiler::intel {
namespace {

bool IsDivision(const llvm::Instruction& instruction) {
  return instruction.isIntDivRem() && !llvm::isa<llvm::Constant>(instruction.getOperand(1));
}

void Guard(llvm::Instruction& division) {
  const bool is_signed =
      division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
  llvm::IRBuilder<> b(&division);
  llvm::Type* type = division.getType();
  llvm::Value* divisor = b.CreateFreeze(division.getOperand(1));
  llvm::Value* trouble = b.CreateICmpEQ(divisor, llvm::ConstantInt::get(type, 0));
  if (is_signed) {
    llvm::Value* dividend = b.CreateFreeze(division.getOperand(0));
    llvm::Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    llvm::Value* overflows =
        b.CreateAnd(b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)), b.CreateICmpEQ(dividend, least));
    trouble = b.CreateOr(trouble, overflows);
    division.setOperand(0, dividend);
  }
  division.setOperand(1, b.CreateSelect(trouble, llvm::ConstantInt::get(type, 1), divisor));
}

}  // namespace

void GuardDivisions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*> divisions;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (IsDivision(instruction)) divisions.push_back(&instruction);
    for (llvm::Instruction* division : divisions) Guard(*division);
  }
}

}  // namespace tritond::compiler::intel
