// SPDX-License-Identifier: Apache-2.0
// What LLVM's SPIR-V back end makes something else of, or what readers of SPIR-V do not take:
//
//   llvm.fshl, llvm.fshr         become functions of the module with exported names; here they are shifts
//   llvm.maximum, llvm.minimum   become fmax and fmin, which drop NaN and do not order zeros; here they do both
//   llvm.assume and the like     have served the optimiser
//   zext (trunc %x), %x wider    loses a truncation: the bits are masked
//   vectors of other than 2, 3, 4, 8 and 16 elements, integers of other than 8, 16, 32 and 64 bits: are refused
#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tritond::compiler::intel {
namespace {

// The upper (fshl) or lower (fshr) bits of {x, y} shifted by z modulo their width. One bit of the other operand's shift
// is made first, because a shift by the whole width has no result.
llvm::Value* EmitFunnelShift(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call) {
  const bool left = call.getIntrinsicID() == llvm::Intrinsic::fshl;
  llvm::Value *x = call.getArgOperand(0), *y = call.getArgOperand(1), *z = call.getArgOperand(2);
  llvm::Type* type = call.getType();
  llvm::Value* last = llvm::ConstantInt::get(type, type->getScalarSizeInBits() - 1);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* amount = b.CreateAnd(z, last);
  llvm::Value* rest = b.CreateSub(last, amount);
  if (left) return b.CreateOr(b.CreateShl(x, amount), b.CreateLShr(b.CreateLShr(y, one), rest));
  return b.CreateOr(b.CreateShl(b.CreateShl(x, one), rest), b.CreateLShr(y, amount));
}

// IEEE 754-2019: NaN wins, and -0 is less than +0, of which equal operands' bits tell.
llvm::Value* EmitOrdered(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call) {
  const bool is_max = call.getIntrinsicID() == llvm::Intrinsic::maximum;
  llvm::Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
  llvm::Type* type = call.getType();
  llvm::Type* bits = type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()));
  llvm::Value *x_bits = b.CreateBitCast(x, bits), *y_bits = b.CreateBitCast(y, bits);
  llvm::Value* both = is_max ? b.CreateAnd(x_bits, y_bits) : b.CreateOr(x_bits, y_bits);
  llvm::Value* first = is_max ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  llvm::Value* number = b.CreateSelect(first, x, y);
  number = b.CreateSelect(b.CreateFCmpOEQ(x, y), b.CreateBitCast(both, type), number);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), number);
}

bool IsHint(llvm::Intrinsic::ID id) {
  return id == llvm::Intrinsic::assume || id == llvm::Intrinsic::experimental_noalias_scope_decl ||
         id == llvm::Intrinsic::lifetime_start || id == llvm::Intrinsic::lifetime_end ||
         id == llvm::Intrinsic::donothing;
}

void ExpandOne(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> b(&call);
  llvm::Value* result = nullptr;
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
      result = EmitFunnelShift(b, call);
      break;
    case llvm::Intrinsic::maximum:
    case llvm::Intrinsic::minimum:
      result = EmitOrdered(b, call);
      break;
    default:
      if (IsHint(call.getIntrinsicID())) call.eraseFromParent();
      return;
  }
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

// zext (trunc %x to iN) to iM, where %x is wider than M  ->  and (trunc %x to iM), 2^N - 1
void MaskExtension(llvm::ZExtInst& extension) {
  auto* truncation = llvm::dyn_cast<llvm::TruncInst>(extension.getOperand(0));
  if (!truncation) return;
  llvm::Value* x = truncation->getOperand(0);
  const unsigned kept = truncation->getType()->getScalarSizeInBits();
  const unsigned bits = extension.getType()->getScalarSizeInBits();
  if (x->getType()->getScalarSizeInBits() <= bits) return;
  llvm::IRBuilder<> b(&extension);
  llvm::Value* mask = llvm::ConstantInt::get(extension.getType(), llvm::APInt::getLowBitsSet(bits, kept));
  extension.replaceAllUsesWith(b.CreateAnd(b.CreateTrunc(x, extension.getType()), mask));
  extension.eraseFromParent();
  if (truncation->use_empty()) truncation->eraseFromParent();
}

bool IsTypeOfSpirv(const llvm::Type* type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const unsigned count = vector->getNumElements();
    if (count != 2 && count != 3 && count != 4 && count != 8 && count != 16) return false;
    type = vector->getElementType();
  }
  if (!type->isIntegerTy()) return !type->isFP128Ty() && !type->isX86_FP80Ty() && !type->isBFloatTy();
  const unsigned bits = type->getIntegerBitWidth();
  return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

absl::Status CheckTypes(const llvm::Instruction& instruction) {
  const llvm::Type* wrong = IsTypeOfSpirv(instruction.getType()) ? nullptr : instruction.getType();
  for (const llvm::Use& operand : instruction.operands())
    if (!IsTypeOfSpirv(operand->getType())) wrong = operand->getType();
  if (!wrong) return absl::OkStatus();
  std::string type, text;
  llvm::raw_string_ostream(type) << *wrong;
  llvm::raw_string_ostream(text) << instruction;
  return absl::InvalidArgumentError(absl::StrCat("SPIR-V for OpenCL has no type ", type, ", as in", text));
}

}  // namespace

absl::Status ExpandIntrinsics(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::IntrinsicInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
    for (llvm::IntrinsicInst* call : calls) ExpandOne(*call);
    WidenIntegers(function);
    llvm::SmallVector<llvm::ZExtInst*> extensions;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* extension = llvm::dyn_cast<llvm::ZExtInst>(&instruction)) extensions.push_back(extension);
    for (llvm::ZExtInst* extension : extensions) MaskExtension(*extension);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (absl::Status status = CheckTypes(instruction); !status.ok()) return status;
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isIntrinsic() && function.use_empty()) function.eraseFromParent();
  return absl::OkStatus();
}

}  // namespace tritond::compiler::intel
