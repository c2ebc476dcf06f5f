// SPDX-License-Identifier: Apache-2.0
// An address is a pointer, values that are multiplied by numbers, and a number. Addresses share all of it but the
// number. Each is looked up once, so that thousands of them cost little.
//
//   %a = gep half, %p, sext(%i * %stride + %j)
//   %b = gep half, %p, sext(%i * %stride + %j + 8)      ->   %b = gep i8, %a, 16
//
// A sum of 32 bits is extended term by term where it cannot overflow, whatever its operands. What the IR says of
// overflow (nsw, nuw) is no such proof: an address that nobody uses may overflow, and others would be made of it.
//
// LLVM's own pass, straight-line strength reduction, does not run (assembly_text.cc): it extends sums that overflow (22,
// mended in 23), and compares each address with each.
#include "compiler/targets/share_addresses.h"

#include <map>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Operator.h"

namespace tritond::compiler {
namespace {

using llvm::Instruction;

enum class Extension { kNone, kSign, kZero };

// Values as wide as an address, and their factors. Numbers are modulo two to its bits here.
using Terms = std::map<const llvm::SCEV*, uint64_t>;

struct Address {
  llvm::Value* pointer = nullptr;
  Terms terms;
  uint64_t number = 0;  // bytes
};

uint64_t NumberOf(const llvm::APInt& number, Extension extension) {
  return extension == Extension::kZero ? number.getZExtValue() : static_cast<uint64_t>(number.getSExtValue());
}

// Takes addresses of one function apart.
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
  // Adds `factor` times `value`, extended.
  void Add(llvm::Value* value, Extension extension, uint64_t factor) {
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
        if (!ExtendsByTerm(*op, extension)) break;
        Add(op->getOperand(0), extension, factor);
        return Add(op->getOperand(1), extension, opcode == Instruction::Sub ? -factor : factor);
      case Instruction::Shl:
      case Instruction::Mul: {
        const llvm::ConstantInt* by = FactorOf(*op);
        if (!by || !NeverOverflows(Instruction::Mul, op->getOperand(0), by, extension)) break;
        return Add(op->getOperand(0), extension, factor * NumberOf(by->getValue(), extension));
      }
      default: break;
    }
    AddWhole(evolution_.getSCEV(value), extension, factor);
  }

  // Adds a value that is not taken apart, but for a number that no carry leaves.
  void AddWhole(const llvm::SCEV* value, Extension extension, uint64_t factor) {
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
  static const llvm::ConstantInt* FactorOf(const llvm::Operator& op) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(op.getOperand(1));
    if (!number || op.getOpcode() == Instruction::Mul) return number;
    const unsigned bits = number->getBitWidth();
    if (number->getValue().uge(bits - 1)) return nullptr;  // the sign
    return llvm::ConstantInt::get(number->getContext(), llvm::APInt::getOneBitSet(bits, number->getZExtValue()));
  }

  // Whether a sum or a difference gives the same when its operands are extended first.
  bool ExtendsByTerm(const llvm::Operator& op, Extension extension) const {
    const llvm::Value *left = op.getOperand(0), *right = op.getOperand(1);
    if (op.getOpcode() == Instruction::Or) return llvm::haveNoCommonBitsSet(left, right, facts_);
    return NeverOverflows(op.getOpcode(), left, right, extension) ||
           (op.getOpcode() == Instruction::Add && llvm::haveNoCommonBitsSet(left, right, facts_));
  }

  bool NeverOverflows(unsigned opcode, const llvm::Value* left, const llvm::Value* right, Extension extension) const {
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
    return overflow() == llvm::OverflowResult::NeverOverflows;
  }

  llvm::ScalarEvolution& evolution_;
  const llvm::DataLayout& layout_;
  const llvm::SimplifyQuery facts_;  // which do not rely on what the IR says of overflow
  llvm::IntegerType* type_ = nullptr;  // of offsets
  Address address_;
};

// Calls `visit` for each address that is computed, in an order in which the dominators of a block come before it.
void ForEachAddress(const llvm::DominatorTree& dominators, llvm::function_ref<void(llvm::GetElementPtrInst&)> visit) {
  for (const llvm::DomTreeNode* node : llvm::depth_first(dominators.getRootNode()))
    for (llvm::Instruction& op : llvm::make_early_inc_range(*node->getBlock()))
      if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&op); gep && !gep->getType()->isVectorTy()) visit(*gep);
}

// The last of `entries` whose address dominates `gep`; null: none. What does not dominate it is of no use for those that
// follow, either.
template <typename Entry>
Entry* Dominating(llvm::SmallVector<Entry, 1>& entries, const llvm::GetElementPtrInst& gep,
                  const llvm::DominatorTree& dominators) {
  while (!entries.empty() && !dominators.dominates(entries.back().gep, &gep)) entries.pop_back();
  return entries.empty() ? nullptr : &entries.back();
}

llvm::GetElementPtrInst* Replace(llvm::GetElementPtrInst* gep, llvm::Value* pointer, llvm::Value* bytes) {
  llvm::IRBuilder<> b(gep);
  llvm::GetElementPtrInst* fresh = b.Insert(llvm::GetElementPtrInst::Create(b.getInt8Ty(), pointer, bytes));
  fresh->takeName(gep);
  gep->replaceAllUsesWith(fresh);
  gep->eraseFromParent();
  return fresh;
}

void ShareAddresses(llvm::Function& function, llvm::ScalarEvolution& evolution, const llvm::DominatorTree& dominators) {
  const llvm::DataLayout& layout = function.getDataLayout();
  Decomposition decomposition(evolution, layout);
  struct Known {
    llvm::GetElementPtrInst* gep;
    uint64_t number;
  };
  std::map<std::pair<llvm::Value*, Terms>, llvm::SmallVector<Known, 1>> known;
  ForEachAddress(dominators, [&](llvm::GetElementPtrInst& gep) {
    const std::optional<Address> address = decomposition.Of(gep);
    if (!address || address->terms.empty()) return;
    llvm::SmallVector<Known, 1>& entries = known[{address->pointer, address->terms}];
    const Known* base = Dominating(entries, gep, dominators);
    if (!base) {
      entries.push_back({&gep, address->number});
      return;
    }
    evolution.forgetValue(&gep);
    base->gep->setNoWrapFlags(llvm::GEPNoWrapFlags::none());  // what holds for one address need not hold for both
    const uint64_t bytes = address->number - base->number;
    Replace(&gep, base->gep, llvm::ConstantInt::getSigned(layout.getIndexType(gep.getType()), bytes));
  });
}

void ShareOffsets(llvm::Function& function, const llvm::DominatorTree& dominators) {
  const llvm::DataLayout& layout = function.getDataLayout();
  struct Known {
    llvm::GetElementPtrInst* gep;  // the first one
    llvm::Value* offset;           // null while there is no other
  };
  std::map<std::pair<llvm::Value*, uint64_t>, llvm::SmallVector<Known, 1>> known;
  ForEachAddress(dominators, [&](llvm::GetElementPtrInst& gep) {
    llvm::Value* index = gep.getOperand(1);
    const uint64_t bytes = layout.getTypeAllocSize(gep.getSourceElementType());
    if (gep.getNumIndices() != 1 || bytes <= 1 || llvm::isa<llvm::Constant>(index) ||
        index->getType() != layout.getIndexType(gep.getType()))
      return;
    llvm::SmallVector<Known, 1>& entries = known[{index, bytes}];
    Known* first = Dominating(entries, gep, dominators);
    if (!first) {
      entries.push_back({&gep, nullptr});
      return;
    }
    if (!first->offset) {
      llvm::IRBuilder<> b(first->gep);
      first->offset = llvm::isPowerOf2_64(bytes)
                          ? b.CreateShl(index, llvm::Log2_64(bytes))
                          : b.CreateMul(index, llvm::ConstantInt::get(index->getType(), bytes));
      first->gep = Replace(first->gep, first->gep->getPointerOperand(), first->offset);
    }
    Replace(&gep, gep.getPointerOperand(), first->offset);
  });
}

}  // namespace

void ShareAddresses(llvm::Module& module) {
  const llvm::TargetLibraryInfoImpl functions(module.getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::AssumptionCache assumptions(function);
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
    ShareAddresses(function, evolution, dominators);
  }
}

void ShareOffsets(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) ShareOffsets(function, llvm::DominatorTree(function));
}

}  // namespace tritond::compiler
