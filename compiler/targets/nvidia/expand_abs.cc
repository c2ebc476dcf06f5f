// SPDX-License-Identifier: Apache-2.0
// ptxas takes what abs gives for a number that is not negative, and converts it to a float as one with a sign. Of the
// least integer that is wrong: its magnitude has the sign bit (seen in 12.8 and 13.0).
//
//   abs.s32 %m, %x;  cvt.rn.f32.u32 %f, %m;   ->   IABS; I2FP.F32.S32
//
// The larger one of x and -x is the same number, and ptxas supposes nothing of it.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

// Of 32 and 64 bits; of fewer bits the magnitude has none left for the sign. Vectors are taken apart before.
const char* ConstraintsFor(const llvm::Type& type) {
  if (type.isIntegerTy(32)) return "=r,r";
  return type.isIntegerTy(64) ? "=l,l" : nullptr;
}

// Of 16 bits, in 32.
llvm::Value* WideAbs(llvm::IRBuilder<>& b, llvm::Value* value) {
  llvm::Value* wide = b.CreateSExt(value, b.getInt32Ty());
  return b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, wide, b.getTrue()), value->getType());
}

bool MayMeetTheLeast(const llvm::IntrinsicInst& call) {
  return llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->isZero();
}

}  // namespace

void ExpandAbs(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::abs || !MayMeetTheLeast(*call)) continue;
      llvm::Type* type = call->getType();
      llvm::IRBuilder<> b(call);
      if (type->isIntegerTy(16)) {
        call->replaceAllUsesWith(WideAbs(b, call->getArgOperand(0)));
        call->eraseFromParent();
        continue;
      }
      const char* constraints = ConstraintsFor(*type);
      if (!constraints) continue;
      const std::string bits = std::to_string(type->getIntegerBitWidth());
      const std::string text = "{\n.reg .b" + bits + " n;\nneg.s" + bits + " n, $1;\nmax.s" + bits + " $0, $1, n;\n}";
      auto* assembly = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), text, constraints,
                                            /*hasSideEffects=*/false);
      call->replaceAllUsesWith(b.CreateCall(assembly, {call->getArgOperand(0)}));
      call->eraseFromParent();
    }
  }
}

}  // namespace tritond::compiler::nvidia
