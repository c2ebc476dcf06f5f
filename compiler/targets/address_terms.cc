// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/address_terms.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Operator.h"

namespace tritond::compiler {
namespace {

using llvm::Instruction;

enum class Extension { kNone, kSign, kZero };

uint64_t NumberOf(const llvm::APInt& number, Extension extension) {
  return extension == Extension::kZero ? number.getZExtValue() : static_cast<uint64_t>(number.getSExtValue());
}

// Takes one address apart.
class Decomposition final {
 public:
  Decomposition(llvm::ScalarEvolution& evolution, const llvm::DataLayout& layout)
      : evolution_(evolution),
        layout_(layout),
        facts_(layout, static_cast<llvm::DominatorTree*>(nullptr), /*AC=*/nullptr, /*CXTI=*/nullptr,
               /*UseInstrInfo=*/false) {}

  // Nothing where an index has more bits than an address.
  std::optional<Address> Of(llvm::GetElementPtrInst& gep) {
    type_ = llvm::cast<llvm::IntegerType>(layout_.getIndexType(gep.getType()));
    const unsigned bits = type_->getBitWidth();
    address_ = {&gep, {}, 0};
    while (auto* inner = llvm::dyn_cast<llvm::GEPOperator>(address_.pointer)) {
      llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> indices;
      llvm::APInt number(bits, 0);
      if (!inner->collectOffset(layout_, bits, indices, number)) return std::nullopt;
      address_.number += NumberOf(number, Extension::kSign);
      for (const auto& [index, scale] : indices) {
        const unsigned width = index->getType()->getScalarSizeInBits();
        if (width > bits) return std::nullopt;
        Add(index, width < bits ? Extension::kSign : Extension::kNone, NumberOf(scale, Extension::kSign));
      }
      address_.pointer = inner->getPointerOperand();
    }
    for (auto it = address_.terms.begin(); it != address_.terms.end();)
      it = it->second == 0 ? address_.terms.erase(it) : std::next(it);
    return std::move(address_);
  }

 private:
  // Adds `factor` times `value`, which is shifted to the left in its own width and then extended.
  void Add(llvm::Value* value, Extension extension, uint64_t factor, unsigned shift = 0) {
    auto* op = llvm::dyn_cast<llvm::Operator>(value);
    const unsigned opcode = op ? op->getOpcode() : 0;
    switch (opcode) {
      case Instruction::SExt:
      case Instruction::ZExt:
        if (extension != Extension::kNone) break;
        return Add(op->getOperand(0), opcode == Instruction::SExt ? Extension::kSign : Extension::kZero, factor);
      case Instruction::Or:
      case Instruction::Add:
      case Instruction::Sub:
        if (!ExtendsByTerm(*op, extension, shift)) break;
        Add(op->getOperand(0), extension, factor, shift);
        return Add(op->getOperand(1), extension, opcode == Instruction::Sub ? -factor : factor, shift);
      case Instruction::Shl:
      case Instruction::Mul: {
        llvm::ConstantInt* by = FactorOf(*op);
        if (!by) break;
        if (shift == 0 && NeverOverflows(Instruction::Mul, op->getOperand(0), by, extension))
          return Add(op->getOperand(0), extension, factor * NumberOf(by->getValue(), extension));
        // Bits that are no others' stay so when all are shifted, whatever is lost.
        if (!by->getValue().isPowerOf2()) break;
        return Add(op->getOperand(0), extension, factor, shift + by->getValue().logBase2());
      }
      default:
        break;
    }
    AddWhole(value, extension, factor, shift);
  }

  // Adds a value that is not taken apart, but for a number that no carry leaves.
  void AddWhole(llvm::Value* whole, Extension extension, uint64_t factor, unsigned shift) {
    const unsigned bits = whole->getType()->getIntegerBitWidth();
    const llvm::APInt by = shift < bits ? llvm::APInt::getOneBitSet(bits, shift) : llvm::APInt::getZero(bits);
    const llvm::SCEV* value = evolution_.getMulExpr(evolution_.getSCEV(whole), evolution_.getConstant(by));
    if (extension == Extension::kSign) value = evolution_.getSignExtendExpr(value, type_);
    if (extension == Extension::kZero) value = evolution_.getZeroExtendExpr(value, type_);
    const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value);
    const auto* number = llvm::dyn_cast<llvm::SCEVConstant>(sum ? sum->getOperand(0) : value);
    if (number) address_.number += factor * NumberOf(number->getAPInt(), Extension::kSign);
    if (number && !sum) return;
    if (number) {
      llvm::SmallVector<const llvm::SCEV*> rest(llvm::drop_begin(sum->operands()));
      value = evolution_.getAddExpr(rest);
    }
    address_.terms[value] += factor;
  }

  // What a product or a shift to the left multiplies by; null: no number.
  static llvm::ConstantInt* FactorOf(const llvm::Operator& op) {
    auto* number = llvm::dyn_cast<llvm::ConstantInt>(op.getOperand(1));
    if (!number || op.getOpcode() == Instruction::Mul) return number;
    const unsigned bits = number->getBitWidth();
    if (number->getValue().uge(bits - 1)) return nullptr;  // the sign
    return llvm::ConstantInt::get(number->getContext(), llvm::APInt::getOneBitSet(bits, number->getZExtValue()));
  }

  // Whether a sum or a difference gives the same when its operands are shifted and extended first.
  bool ExtendsByTerm(const llvm::Operator& op, Extension extension, unsigned shift) const {
    llvm::Value *left = op.getOperand(0), *right = op.getOperand(1);
    const unsigned opcode = op.getOpcode();
    if (opcode != Instruction::Or && shift == 0 && NeverOverflows(opcode, left, right, extension)) return true;
    return opcode != Instruction::Sub && llvm::haveNoCommonBitsSet(left, right, facts_);
  }

  // By the bits that are known of both, or by the range of what counts iterations.
  bool NeverOverflows(unsigned opcode, llvm::Value* left, llvm::Value* right, Extension extension) const {
    if (extension == Extension::kNone) return true;
    const bool is_signed = extension == Extension::kSign;
    const auto overflow = [&] {
      switch (opcode) {
        case Instruction::Add:
          return is_signed ? llvm::computeOverflowForSignedAdd(left, right, facts_)
                           : llvm::computeOverflowForUnsignedAdd(left, right, facts_);
        case Instruction::Sub:
          return is_signed ? llvm::computeOverflowForSignedSub(left, right, facts_)
                           : llvm::computeOverflowForUnsignedSub(left, right, facts_);
        default:
          return is_signed ? llvm::computeOverflowForSignedMul(left, right, facts_)
                           : llvm::computeOverflowForUnsignedMul(left, right, facts_);
      }
    };
    if (overflow() == llvm::OverflowResult::NeverOverflows) return true;
    if (opcode != Instruction::Add) return false;
    const llvm::ConstantRange of_left = RangeOf(left, is_signed), of_right = RangeOf(right, is_signed);
    return (is_signed ? of_left.signedAddMayOverflow(of_right) : of_left.unsignedAddMayOverflow(of_right)) ==
           llvm::ConstantRange::OverflowResult::NeverOverflows;
  }

  llvm::ConstantRange RangeOf(llvm::Value* value, bool is_signed) const {
    const auto* count = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(value));
    const bool is_count = count && llvm::all_of(count->operands(), llvm::IsaPred<llvm::SCEVConstant>);
    if (!is_count) return llvm::ConstantRange::fromKnownBits(llvm::computeKnownBits(value, facts_), is_signed);
    return is_signed ? evolution_.getSignedRange(count) : evolution_.getUnsignedRange(count);
  }

  llvm::ScalarEvolution& evolution_;
  const llvm::DataLayout& layout_;
  const llvm::SimplifyQuery facts_;    // which do not rely on what the IR says of overflow
  llvm::IntegerType* type_ = nullptr;  // of offsets
  Address address_;
};

}  // namespace

std::optional<Address> TermsOf(llvm::GetElementPtrInst& gep, llvm::ScalarEvolution& evolution) {
  return Decomposition(evolution, gep.getDataLayout()).Of(gep);
}

}  // namespace tritond::compiler
