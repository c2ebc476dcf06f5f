// SPDX-License-Identifier: Apache-2.0
// On a GPU an integer division by zero has some result. On x86 it is a signal, as is the smallest number divided by -1.
// Threads divide what they loaded nothing into, and drop the result, so neither may stop the program:
//
//   %q = sdiv i32 %x, %y
//
//   %zero = icmp eq i32 %y, 0
//   %minus = icmp eq i32 %y, -1
//   %unsafe = or i1 %zero, (and i1 %minus, (icmp eq i32 %x, -2147483648))
//   %q = sdiv i32 %x, (select i1 %unsafe, i32 1, i32 %y)
//
// so x / 0 is x here, and the smallest number divided by -1 is itself, as in two's complement.
#include "compiler/targets/host/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::host {
namespace {

bool IsSigned(const llvm::Instruction& division) {
  return division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
}

// A constant divisor, as most are, is safe unless it is 0 or -1.
bool IsSafe(const llvm::Value* divisor) {
  const llvm::APInt* number = nullptr;
  return llvm::PatternMatch::match(divisor, llvm::PatternMatch::m_APInt(number)) && !number->isZero() &&
         !number->isAllOnes();
}

}  // namespace

void GuardDivisions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& division : llvm::instructions(function)) {
      if (!division.isIntDivRem() || IsSafe(division.getOperand(1))) continue;
      llvm::IRBuilder<> b(&division);
      llvm::Value *x = division.getOperand(0), *y = division.getOperand(1);
      llvm::Type* type = y->getType();
      llvm::Value* unsafe = b.CreateICmpEQ(y, llvm::Constant::getNullValue(type));
      if (IsSigned(division)) {
        llvm::Value* smallest =
            llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
        llvm::Value* wraps =
            b.CreateAnd(b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type)), b.CreateICmpEQ(x, smallest));
        unsafe = b.CreateOr(unsafe, wraps);
      }
      division.setOperand(1, b.CreateSelect(unsafe, llvm::ConstantInt::get(type, 1), y));
    }
  }
}

}  // namespace tritond::compiler::host
