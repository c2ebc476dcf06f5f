// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products of two halves, f16 or bf16, that are rounded to halves again, are computed as pairs:
//
//   %x = fadd float (fpext half %a0), (fpext half %b0)
//   %y = fadd float (fpext half %a1), (fpext half %b1)       ->     fma.rn.f16x2 %w, {%a0, %a1}, {1, 1}, {%b0, %b1}
//   cvt.rn.f16x2.f32 %w, %y, %x
//
// f32 has more than twice the bits of a half, so that the two roundings give what one does. (f32's subnormal numbers
// have fewer; there the one rounding is the nearer one.) Four conversions, two sums and the rounding become one
// instruction. It is a multiply-add of inline assembly, which LLVM joins with no other one: programs that round between
// a product and a sum want it.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

// The type of the halves that the call rounds two f32 to; null: it is no such call.
llvm::Type* RoundedType(const Instruction& op) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  if (!call) return nullptr;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  if (id != llvm::Intrinsic::nvvm_ff2f16x2_rn && id != llvm::Intrinsic::nvvm_ff2bf16x2_rn) return nullptr;
  return call->getType()->getScalarType();
}

// The half that `x` is, made longer; null: it may be no half.
Value* HalfOf(Value* x, llvm::Type* half) {
  using namespace llvm::PatternMatch;
  if (auto* constant = llvm::dyn_cast<llvm::ConstantFP>(x)) {
    llvm::APFloat value = constant->getValueAPF();
    bool loses = false;
    value.convert(half->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return loses ? nullptr : llvm::ConstantFP::get(half->getContext(), value);
  }
  Value* found = nullptr;
  constexpr uint64_t kHalfBits = 16;
  const bool is_half = match(x, m_FPExt(m_Value(found))) ||
                       match(x, m_BitCast(m_Shl(m_ZExt(m_BitCast(m_Value(found))), m_SpecificInt(kHalfBits))));
  return is_half && found->getType() == half ? found : nullptr;
}

// The operation on two floats of one use that `x` is; else null.
llvm::BinaryOperator* OperationOf(Value* x) {
  auto* op = llvm::dyn_cast<llvm::BinaryOperator>(x);
  if (!op || !op->hasOneUse()) return nullptr;
  const unsigned code = op->getOpcode();
  return code == Instruction::FAdd || code == Instruction::FSub || code == Instruction::FMul ? op : nullptr;
}

class Pairs final {
 public:
  Pairs(Instruction& place, llvm::Type* half)
      : b_(&place), half_(half), type_(llvm::FixedVectorType::get(half, 2)), word_(b_.getInt32Ty()) {}

  // Of operand `index` of both operations; null where these are no halves, or numbers alone.
  bool Find(const Instruction& low, const Instruction& high, unsigned index) {
    low_[index] = HalfOf(low.getOperand(index), half_);
    high_[index] = HalfOf(high.getOperand(index), half_);
    return low_[index] && high_[index];
  }

  Value* Word(unsigned index) {
    Value* pair = b_.CreateInsertElement(llvm::PoisonValue::get(type_), low_[index], uint64_t{0});
    return b_.CreateBitCast(b_.CreateInsertElement(pair, high_[index], uint64_t{1}), word_);
  }

  Value* Word(double number) {
    llvm::Constant* element = llvm::ConstantFP::get(half_, number);
    return b_.CreateBitCast(llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(2), element), word_);
  }

  // x * y + z
  Value* Fused(Value* x, Value* y, Value* z) {
    auto* function = llvm::FunctionType::get(word_, {word_, word_, word_}, /*isVarArg=*/false);
    const std::string text = absl::StrCat("fma.rn.", half_->isHalfTy() ? "f16x2" : "bf16x2", " $0, $1, $2, $3;");
    auto* assembly = llvm::InlineAsm::get(function, text, "=r,r,r,r", /*hasSideEffects=*/false);
    return b_.CreateBitCast(b_.CreateCall(assembly, {x, y, z}), type_);
  }

 private:
  llvm::IRBuilder<> b_;
  llvm::Type* half_;
  llvm::Type* type_;
  llvm::Type* word_;
  Value* low_[2] = {};
  Value* high_[2] = {};
};

// What the call returns, computed in halves; null where its operands are nothing of the kind.
Value* InHalves(Instruction& call, llvm::Type* half) {
  auto *high = OperationOf(call.getOperand(0)), *low = OperationOf(call.getOperand(1));
  if (!high || !low || high->getOpcode() != low->getOpcode()) return nullptr;
  Pairs pairs(call, half);
  if (!pairs.Find(*low, *high, 0) || !pairs.Find(*low, *high, 1)) return nullptr;
  if (low->getOpcode() == Instruction::FMul) return pairs.Fused(pairs.Word(0U), pairs.Word(1U), pairs.Word(-0.0));
  if (low->getOpcode() == Instruction::FAdd) return pairs.Fused(pairs.Word(0U), pairs.Word(1.0), pairs.Word(1U));
  return pairs.Fused(pairs.Word(1U), pairs.Word(-1.0), pairs.Word(0U));
}

}  // namespace

void ComputeInHalves(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (Instruction& op : llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::Type* half = RoundedType(op);
      Value* result = half ? InHalves(op, half) : nullptr;
      if (!result) continue;
      op.replaceAllUsesWith(result);
      op.eraseFromParent();
    }
  }
}

}  // namespace tritond::compiler::nvidia
