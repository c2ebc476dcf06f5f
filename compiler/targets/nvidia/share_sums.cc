// SPDX-License-Identifier: Apache-2.0
// Sums of indices that are equal become one, however numbers are spread over what they are made of. Attention with
// slopes turns the distance of each row and column into a float. A thread has rows r and r + 8, and columns c, c + 1,
// c + 8, c + 9, …, so that nearly half of its distances are equal:
//
//   %a = sub %r, %c                                     %a = sub %r, %c
//   %b = sub (or disjoint %r, 8), (or disjoint %c, 8)   ->   (%b is %a)
//   %d = sub (or disjoint %r, 8), %c                    %d = add %a, 8
//
// Nor does a loop keep a register for each of the sums that differ in a number alone. Masks compare rows with the
// columns that a loop moves over:
//
//   %c1 = or disjoint %lane, 1 …                        loop:
//   loop:                                                 %t = add %lane, %start
//     %a = add %c1, %start …                       ->     %a = add %t, 1 …
//
// LLVM's reassociation finds that, too. Kernels with wgmma do without it (optimize.cc), for what it moves out of loops
// takes registers. Here sums change only where some of a block are equal, or, in such kernels, where many take what
// a loop keeps. What is new has no flags of overflow, and is made of what the old sums are made of: it is poison
// only where they are.
#include <map>
#include <memory>
#include <tuple>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BinaryOperator;
using llvm::Instruction;
using llvm::Value;

// Values that a loop need not keep for sums of one block: fewer are no want of registers.
constexpr unsigned kManyKept = 4;

bool LeadsToAddress(const llvm::User* user) {
  auto* op = llvm::dyn_cast<Instruction>(user);
  return op && (op->isCast() || op->isShift() || op->getOpcode() == Instruction::Mul ||
                llvm::isa<llvm::GetElementPtrInst>(op));
}

// A sum or difference of two others, or a value.
struct Sum {
  unsigned opcode = 0;  // 0: `value`
  Value* value = nullptr;
  const Sum *left = nullptr, *right = nullptr;
};

// Such a sum and a number, modulo two to the bits of the type.
struct Shifted {
  const Sum* sum;
  llvm::APInt number;
};

class Sharing final {
 public:
  explicit Sharing(llvm::Function& function)
      : dominators_(function),
        loops_(dominators_),
        lacks_registers_(llvm::any_of(llvm::instructions(function), IsWgmma)) {}

  void Run() {
    llvm::SmallVector<Member> members;
    for (llvm::DomTreeNode* node : llvm::depth_first(dominators_.getRootNode()))
      for (Instruction& op : *node->getBlock())
        if (IsSum(op)) members.push_back({llvm::cast<BinaryOperator>(&op), Of(&op)});
    llvm::DenseSet<std::pair<const Sum*, llvm::BasicBlock*>> repeated = Repeated(members);
    llvm::SmallVector<llvm::WeakTrackingVH> dead;
    for (const Member& member : members) {
      if (!repeated.contains({member.shifted.sum, member.op->getParent()})) continue;
      member.op->replaceAllUsesWith(Made(member));
      dead.push_back(member.op);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructions(dead);
  }

 private:
  struct Member {
    BinaryOperator* op;
    Shifted shifted;
  };

  // Bits that no two operands share are added, too.
  static bool Adds(const Instruction& op) {
    auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&op);
    return op.getOpcode() == Instruction::Add || (bits && bits->isDisjoint());
  }

  static bool IsSum(const Instruction& op) {
    return (Adds(op) || op.getOpcode() == Instruction::Sub) && op.getType()->isIntegerTy() &&
           op.getType()->getIntegerBitWidth() <= 64 && !llvm::isa<llvm::Constant>(op.getOperand(0)) &&
           !llvm::isa<llvm::Constant>(op.getOperand(1));
  }

  // Whether it is kept for `user` throughout an innermost loop, and is a number more than something else. An address
  // takes such a number into its own sum.
  bool IsKept(Value* value, const Instruction& user) const {
    auto* made = llvm::dyn_cast<Instruction>(value);
    const llvm::Loop* loop = loops_.getLoopFor(user.getParent());
    return made && loop && loop->isInnermost() && !loop->contains(made) && Adds(*made) &&
           llvm::isa<llvm::ConstantInt>(made->getOperand(1)) && llvm::none_of(user.users(), LeadsToAddress);
  }

  // The sums of a block some of whose members are equal, or for many of which a loop keeps values of their own.
  llvm::DenseSet<std::pair<const Sum*, llvm::BasicBlock*>> Repeated(llvm::ArrayRef<Member> members) {
    llvm::DenseMap<std::pair<const Sum*, llvm::BasicBlock*>, llvm::SmallVector<llvm::APInt>> numbers;
    llvm::DenseMap<std::pair<const Sum*, llvm::BasicBlock*>, llvm::SmallPtrSet<Value*, 4>> kept;
    llvm::DenseSet<std::pair<const Sum*, llvm::BasicBlock*>> repeated;
    for (const Member& member : members) {
      const std::pair key(member.shifted.sum, member.op->getParent());
      auto& seen = numbers[key];
      if (llvm::is_contained(seen, member.shifted.number)) repeated.insert(key);
      seen.push_back(member.shifted.number);
      for (Value* operand : member.op->operands())
        if (IsKept(operand, *member.op)) kept[key].insert(operand);
      if (lacks_registers_ && kept[key].size() >= kManyKept) repeated.insert(key);
    }
    return repeated;
  }

  Shifted Of(Value* value) {
    if (auto known = shifted_.find(value); known != shifted_.end()) return known->second;
    const Shifted made = Find(value);
    shifted_.insert({value, made});
    return made;
  }

  Shifted Find(Value* value) {
    using namespace llvm::PatternMatch;  // NOLINT(google-build-using-namespace): as its users do
    Value* other = nullptr;
    const llvm::APInt* number = nullptr;
    if (match(value, m_Add(m_Value(other), m_APInt(number))) ||
        match(value, m_DisjointOr(m_Value(other), m_APInt(number)))) {
      Shifted shifted = Of(other);
      return {shifted.sum, shifted.number + *number};
    }
    auto* op = llvm::dyn_cast<BinaryOperator>(value);
    if (!op || !IsSum(*op)) return {Interned({0, value}), llvm::APInt(value->getType()->getIntegerBitWidth(), 0)};
    const Shifted left = Of(op->getOperand(0)), right = Of(op->getOperand(1));
    const bool adds = Adds(*op);
    return {Interned({adds ? Instruction::Add : Instruction::Sub, nullptr, left.sum, right.sum}),
            adds ? left.number + right.number : left.number - right.number};
  }

  const Sum* Interned(const Sum& sum) {
    auto [entry, is_new] = sums_.try_emplace({sum.opcode, sum.value, sum.left, sum.right}, nullptr);
    if (is_new) entry->second = std::make_unique<Sum>(sum);
    return entry->second.get();
  }

  // The last of `values` that is there at `op`; null: none. Those that are not will not be for what follows, either.
  Instruction* Last(llvm::SmallVector<Instruction*, 1>& values, Instruction* op) {
    while (!values.empty() && !dominators_.dominates(values.back(), op)) values.pop_back();
    return values.empty() ? nullptr : values.back();
  }

  // `sum` in front of `op`.
  Value* Made(const Sum* sum, Instruction* op) {
    if (sum->opcode == 0) return sum->value;
    auto& known = made_[{sum, 0}];
    if (Value* value = Last(known, op)) return value;
    Value *left = Made(sum->left, op), *right = Made(sum->right, op);
    auto* fresh =
        BinaryOperator::Create(static_cast<Instruction::BinaryOps>(sum->opcode), left, right, "", op->getIterator());
    made_[{sum, 0}].push_back(fresh);
    return fresh;
  }

  Value* Made(const Member& member) {
    const uint64_t number = member.shifted.number.getZExtValue();
    if (number == 0) return Made(member.shifted.sum, member.op);
    // One of another block might have to live through a loop for this.
    Instruction* known = Last(made_[{member.shifted.sum, number}], member.op);
    if (known && known->getParent() == member.op->getParent()) return known;
    Value* sum = Made(member.shifted.sum, member.op);
    auto* fresh = BinaryOperator::CreateAdd(sum, llvm::ConstantInt::get(member.op->getType(), member.shifted.number),
                                            "", member.op->getIterator());
    made_[{member.shifted.sum, number}].push_back(fresh);
    return fresh;
  }

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  const bool lacks_registers_;  // which accumulators take
  std::map<std::tuple<unsigned, Value*, const Sum*, const Sum*>, std::unique_ptr<Sum>> sums_;
  llvm::DenseMap<Value*, Shifted> shifted_;
  // What has been made of a sum and a number, in the order of the blocks.
  std::map<std::pair<const Sum*, uint64_t>, llvm::SmallVector<Instruction*, 1>> made_;
};

}  // namespace

void ShareSums(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Sharing(function).Run();
}

}  // namespace tritond::compiler::nvidia
