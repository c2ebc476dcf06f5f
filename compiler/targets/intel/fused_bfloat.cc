// SPDX-License-Identifier: Apache-2.0
// A fused multiply-add of bf16 rounds once. f64 holds the product exactly. The sum, where f64 does not hold it, is
// rounded to odd, and so is the f32 that it becomes. With an odd last bit, rounding again gives what rounding once
// would ("round to odd", Boldo and Melquiond, 2008).
//
//   %r = call bfloat @llvm.fma.bf16(%x, %y, %z)
//   ->
//   %s = odd (fmul double %x', %y') + %z'
//   %r = fptrunc float (odd fptrunc double %s) to bfloat
#include "compiler/targets/intel/codegen.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tritond::compiler::intel {
namespace {

// x + y. The error of a sum is a float itself (Knuth, TwoSum). It tells whether the sum is exact, and which neighbour
// lies after the exact one.
llvm::Value* AddToOdd(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y) {
  llvm::Value* sum = b.CreateFAdd(x, y);
  llvm::Value* of_y = b.CreateFSub(sum, x);
  llvm::Value* error = b.CreateFAdd(b.CreateFSub(x, b.CreateFSub(sum, of_y)), b.CreateFSub(y, of_y));
  llvm::Value* zero = llvm::ConstantFP::get(b.getDoubleTy(), 0);
  llvm::Value* bits = b.CreateBitCast(sum, b.getInt64Ty());
  llvm::Value* is_even = b.CreateICmpEQ(b.CreateAnd(bits, 1), b.getInt64(0));
  llvm::Value* is_short = b.CreateICmpEQ(b.CreateFCmpOGT(error, zero), b.CreateFCmpOGT(sum, zero));
  llvm::Value* odd = b.CreateAdd(bits, b.CreateSelect(is_short, b.getInt64(1), b.getInt64(-1)));
  llvm::Value* inexact = b.CreateFCmpONE(error, zero);  // not of infinities and NaNs
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(inexact, is_even), odd, bits), b.getDoubleTy());
}

llvm::Value* NarrowToOdd(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* nearest = b.CreateFPTrunc(x, b.getFloatTy());
  llvm::Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
  llvm::Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  llvm::Value* inexact = b.CreateFCmpONE(back, x);  // and no NaN
  llvm::Value* is_even = b.CreateICmpEQ(b.CreateAnd(bits, 1), b.getInt32(0));
  llvm::Value* is_beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                           b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
  llvm::Value* odd = b.CreateAdd(bits, b.CreateSelect(is_beyond, b.getInt32(-1), b.getInt32(1)));
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(inexact, is_even), odd, bits), b.getFloatTy());
}

}  // namespace

void ExpandFusedBfloat(llvm::Module& module) {
  llvm::Function* fused = module.getFunction("llvm.fma.bf16");
  if (!fused) return;
  for (llvm::User* user : llvm::make_early_inc_range(fused->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> b(call);
    auto wide = [&](unsigned i) { return b.CreateFPExt(call->getArgOperand(i), b.getDoubleTy()); };
    llvm::Value* product = b.CreateFMul(wide(0), wide(1));
    llvm::Value* rounded = b.CreateFPTrunc(NarrowToOdd(b, AddToOdd(b, product, wide(2))), call->getType());
    call->replaceAllUsesWith(rounded);
    call->eraseFromParent();
  }
}

}  // namespace tritond::compiler::intel
