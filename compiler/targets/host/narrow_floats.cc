// SPDX-License-Identifier: Apache-2.0
// Where x86-64-v3 has no instruction that rounds to a narrow float, LLVM calls functions of the compiler's own run-time
// library. Host code does not have these. The object brings them along; the linker drops those that are not called.
//
//   __truncsfbf2  f32 to bf16    __truncdfbf2  f64 to bf16    __truncdfhf2  f64 to f16
//
// Fused multiply-adds of f16 and bf16 are computed in f64, which holds their products. Sums that it does not hold are
// rounded to odd, so that only the last step rounds. x86 has no such multiply-adds, and LLVM would round its f32 one a
// second time.
//
// f32 to bf16 cuts off the lower half after adding half of the last kept bit's weight, less one if that bit is even.
// f64 goes by f32 rounded to odd. Where f32 is not exact, its last bit is one, and rounding again gives what rounding
// once would ("round to odd", Boldo and Melquiond, 2008).
#include "compiler/targets/host/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"

namespace tritond::compiler::host {
namespace {

bool IsNarrow(const llvm::Type* type) {
  return type->getScalarType()->isBFloatTy() || type->getScalarType()->isHalfTy();
}

// Only they can lead to these calls, so most modules need not carry the functions through the assembler.
bool HasNarrowFloats(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto is_narrow = [](const llvm::Use& operand) { return IsNarrow(operand->getType()); };
      if (IsNarrow(instruction.getType()) || llvm::any_of(instruction.operands(), is_narrow)) return true;
    }
  }
  return false;
}

llvm::Value* RoundToOdd(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* nearest = b.CreateFPTrunc(x, b.getFloatTy());
  llvm::Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
  llvm::Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  // Not equal, and not a NaN.
  llvm::Value* inexact = b.CreateFCmpONE(back, x);
  llvm::Value* is_even = b.CreateICmpEQ(b.CreateAnd(bits, 1), b.getInt32(0));
  auto magnitude = [&](llvm::Value* v) {
    return b.CreateAnd(b.CreateBitCast(v, b.getInt64Ty()), ~(uint64_t{1} << 63));
  };
  llvm::Value* is_beyond = b.CreateICmpUGT(magnitude(back), magnitude(x));
  llvm::Value* odd = b.CreateAdd(bits, b.CreateSelect(is_beyond, b.getInt32(-1), b.getInt32(1)));
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(inexact, is_even), odd, bits), b.getFloatTy());
}

llvm::Value* RoundToBf16(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* bits = b.CreateBitCast(x, b.getInt32Ty());
  llvm::Value* last = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  llvm::Value* rounded = b.CreateAdd(bits, b.CreateAdd(last, b.getInt32(0x7fff)));
  // A NaN keeps its upper half and becomes quiet: adding to it could carry into an infinity.
  llvm::Value* quiet = b.CreateOr(bits, 0x400000);
  llvm::Value* kept = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(kept, 16), b.getInt16Ty()), b.getBFloatTy());
}

template <typename Body>
void AddFunction(llvm::Module& module, const char* name, llvm::Type* from, llvm::Type* to, Body body) {
  auto* type = llvm::FunctionType::get(to, {from}, /*isVarArg=*/false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->setDoesNotThrow();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "", function));
  b.CreateRet(body(b, function->getArg(0)));
}

// x + y in f64, with a last bit of one where that is not exact. The error of a sum is a float itself (Knuth, TwoSum).
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

void WidenMultiplyAdds(llvm::Module& module) {
  llvm::Type* f64 = llvm::Type::getDoubleTy(module.getContext());
  for (const char* name : {"llvm.fma.f16", "llvm.fma.bf16"}) {
    llvm::Function* narrow = module.getFunction(name);
    if (!narrow) continue;
    for (llvm::User* user : llvm::make_early_inc_range(narrow->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> b(call);
      auto wide = [&](unsigned i) { return b.CreateFPExt(call->getArgOperand(i), f64); };
      llvm::Value* product = b.CreateFMul(wide(0), wide(1));
      call->replaceAllUsesWith(b.CreateFPTrunc(AddToOdd(b, product, wide(2)), call->getType()));
      call->eraseFromParent();
    }
  }
}

}  // namespace

void AddNarrowFloatFunctions(llvm::Module& module) {
  WidenMultiplyAdds(module);
  if (!HasNarrowFloats(module)) return;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *f16 = llvm::Type::getHalfTy(context), *bf16 = llvm::Type::getBFloatTy(context),
             *f32 = llvm::Type::getFloatTy(context), *f64 = llvm::Type::getDoubleTy(context);
  AddFunction(module, "__truncsfbf2", f32, bf16, RoundToBf16);
  AddFunction(module, "__truncdfbf2", f64, bf16,
              [](llvm::IRBuilder<>& b, llvm::Value* x) { return RoundToBf16(b, RoundToOdd(b, x)); });
  AddFunction(module, "__truncdfhf2", f64, f16,
              [&](llvm::IRBuilder<>& b, llvm::Value* x) { return b.CreateFPTrunc(RoundToOdd(b, x), f16); });
}

}  // namespace tritond::compiler::host
