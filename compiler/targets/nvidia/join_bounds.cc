// SPDX-License-Identifier: Apache-2.0
// An index is within bounds if it is not negative and less than a size. As an unsigned number, one that is negative
// exceeds each size. So one comparison does for both, if the size is not negative. A size that may be is replaced by
// zero, once for all indices.
//
//   %l = icmp sgt i32 %x, -1                  %m = call i32 @llvm.smax.i32(i32 %n, i32 0)
//   %u = icmp slt i32 %x, %n            =>    %b = icmp ult i32 %x, %m
//   %b = and i1 %l, %u
//
// LLVM has taken sums out of the comparisons with constants: %x is also a sum %v + c that does not overflow, of which
// %l says that %v is no less than -c.
//
// That is done for sizes that several indices are compared with, or that loops find in front of them.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Value;

// Both comparisons of one index, as operands of conjunctions.
struct Bounds {
  llvm::Use* lower;
  llvm::Use* upper;
  Value* index;
};

bool IsConjunction(const Value* value) {
  auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return operation && operation->getOpcode() == llvm::Instruction::And && operation->getType()->isIntegerTy(1);
}

// The operands of `conjunction`, and of those that it alone takes.
void AddTerms(llvm::BinaryOperator& conjunction, llvm::SmallVectorImpl<llvm::Use*>& terms) {
  for (llvm::Use& operand : conjunction.operands()) {
    if (IsConjunction(operand) && operand->hasOneUse())
      AddTerms(*llvm::cast<llvm::BinaryOperator>(operand), terms);
    else
      terms.push_back(&operand);
  }
}

// Whether `term` says that `index` is not negative.
bool IsLowerBound(const Value* term, const Value* index) {
  using namespace llvm::PatternMatch;
  Value* of = nullptr;
  const llvm::APInt *below = nullptr, *distance = nullptr;
  if (!match(term, m_SpecificICmp(llvm::CmpInst::ICMP_SGT, m_Value(of), m_APInt(below)))) return false;
  if (of == index) return below->isAllOnes();
  return match(index, m_NSWAdd(m_Specific(of), m_APInt(distance))) && (*below + *distance).isAllOnes();
}

// The index and the size that `term` compares, if these are such.
std::pair<Value*, Value*> UpperBound(Value* term) {
  using namespace llvm::PatternMatch;
  Value *index = nullptr, *size = nullptr;
  const bool is_less = match(term, m_SpecificICmp(llvm::CmpInst::ICMP_SLT, m_Value(index), m_Value(size))) ||
                       match(term, m_SpecificICmp(llvm::CmpInst::ICMP_SGT, m_Value(size), m_Value(index)));
  const bool is_known = is_less && (llvm::isa<llvm::Constant>(size) || llvm::isa<llvm::Constant>(index));
  if (!is_less || is_known || !index->getType()->isIntegerTy()) return {};
  return {index, size};
}

using BoundsOfSizes = llvm::MapVector<Value*, llvm::SmallVector<Bounds>>;

void FindBounds(llvm::BinaryOperator& root, BoundsOfSizes& found) {
  llvm::SmallVector<llvm::Use*> terms;
  AddTerms(root, terms);
  llvm::SmallPtrSet<llvm::Use*, 8> taken;
  for (llvm::Use* upper : terms) {
    auto [index, size] = UpperBound(*upper);
    if (!index || taken.contains(upper)) continue;
    for (llvm::Use* lower : terms) {
      if (lower == upper || taken.contains(lower) || !IsLowerBound(*lower, index)) continue;
      found[size].push_back({lower, upper, index});
      taken.insert({lower, upper});
      break;
    }
  }
}

llvm::Instruction* PlaceAfter(Value* value, llvm::Function& function) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  return made ? &**made->getInsertionPointAfterDef() : &*function.getEntryBlock().getFirstInsertionPt();
}

// Whether the conjunction runs more often than what makes the size.
bool IsRepeated(const Value* size, const Bounds& bounds, const llvm::LoopInfo& loops) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(size);
  auto* user = llvm::cast<llvm::Instruction>(bounds.upper->getUser());
  return loops.getLoopDepth(user->getParent()) > (made ? loops.getLoopDepth(made->getParent()) : 0);
}

// Not results of instructions that end their blocks.
bool HasPlaceAfter(const Value* value) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  return !made || !made->isTerminator();
}

// Replaces conjunctions of something with what is true by it.
void DropTrue(llvm::SmallVector<Value*> conjunctions) {
  while (!conjunctions.empty()) {
    auto* conjunction = llvm::cast<llvm::Instruction>(conjunctions.pop_back_val());
    for (unsigned side : {0, 1}) {
      if (!llvm::PatternMatch::match(conjunction->getOperand(side), llvm::PatternMatch::m_One())) continue;
      for (llvm::User* user : conjunction->users())
        if (IsConjunction(user)) conjunctions.push_back(user);
      conjunction->replaceAllUsesWith(conjunction->getOperand(1 - side));
      break;
    }
  }
}

// Comparisons and conjunctions that nothing uses any more.
void EraseUnused(llvm::Function& function) {
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if ((llvm::isa<llvm::ICmpInst>(instruction) || IsConjunction(&instruction)) && instruction.use_empty())
      unused.push_back(&instruction);
  llvm::RecursivelyDeleteTriviallyDeadInstructions(unused);
}

void JoinBounds(llvm::Function& function) {
  BoundsOfSizes found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const bool is_inner = instruction.hasOneUse() && IsConjunction(*instruction.user_begin());
    if (IsConjunction(&instruction) && !is_inner) FindBounds(llvm::cast<llvm::BinaryOperator>(instruction), found);
  }
  if (found.empty()) return;
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<Value*> conjunctions;
  for (auto& [size, all] : found) {
    const bool pays = all.size() > 1 || IsRepeated(size, all.front(), loops);
    if (!pays || !HasPlaceAfter(size)) continue;
    llvm::IRBuilder<> b(PlaceAfter(size, function));
    Value* bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, llvm::ConstantInt::get(size->getType(), 0));
    llvm::DenseMap<Value*, Value*> within;  // of what compares an index with the size
    for (const Bounds& bounds : all) {
      Value*& both = within[*bounds.upper];
      if (!both) {
        b.SetInsertPoint(llvm::cast<llvm::Instruction>(*bounds.upper));
        both = b.CreateICmpULT(bounds.index, bound);
      }
      bounds.upper->set(both);
      bounds.lower->set(b.getTrue());
      conjunctions.push_back(bounds.lower->getUser());
    }
  }
  DropTrue(std::move(conjunctions));
  EraseUnused(function);
}

}  // namespace

void JoinBounds(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) JoinBounds(function);
}

}  // namespace tritond::compiler::nvidia
