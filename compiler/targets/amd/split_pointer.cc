// SPDX-License-Identifier: Apache-2.0
// A pointer is the sum of what its getelementptrs add. What all lanes share goes to the base, the rest to the offset:
//
//   %i = add nsw i32 %tile, %lane                    %base = getelementptr i8, %p, (sext %tile) * 4
//   %j = sext i32 %i to i64                    ->    %offset = shl i32 %lane, 2
//   %q = getelementptr float, ptr %p, i64 %j
//
// An extended sum is the sum of what is extended only where it does not overflow. Flags say so, or ranges, or bits that
// both operands cannot have. The range of the offset is that of its terms. It comes from known bits, assumptions and,
// where the access has a condition, from the bounds in it.
//
// A loop that moves its pointer on by what all lanes share gets a twin, the base, which it moves on likewise. The
// offset is that of the pointer at the loop's start.
#include "compiler/targets/amd/split_pointer.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::amd {
namespace {

using llvm::ConstantRange;
using llvm::Value;

constexpr unsigned kAddressBits = 64, kOffsetBits = 32;
constexpr int kMostTerms = 16;

// What an `add` or an `or` of bits that are never in both does, when an extension sees no overflow of it.
bool IsExactSum(llvm::Instruction& sum, bool is_signed, const llvm::SimplifyQuery& query) {
  if (auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&sum)) return either->isDisjoint();
  if (sum.getOpcode() != llvm::Instruction::Add) return false;
  if (is_signed ? sum.hasNoSignedWrap() : sum.hasNoUnsignedWrap()) return true;
  Value *a = sum.getOperand(0), *b = sum.getOperand(1);
  if (llvm::haveNoCommonBitsSet(a, b, query)) return true;
  const llvm::OverflowResult overflow =
      is_signed ? llvm::computeOverflowForSignedAdd(a, b, query) : llvm::computeOverflowForUnsignedAdd(a, b, query);
  return overflow == llvm::OverflowResult::NeverOverflows;
}

// The values that `value` may have where `condition` holds, as far as its comparisons with constants say.
ConstantRange RangeUnder(Value* condition, Value* value, unsigned bits) {
  using llvm::PatternMatch::m_LogicalAnd;
  using llvm::PatternMatch::m_Value;
  ConstantRange range = ConstantRange::getFull(bits);
  llvm::SmallVector<Value*> pending = {condition};
  for (int steps = 0; !pending.empty() && steps < 2 * kMostTerms; ++steps) {
    Value *part = pending.pop_back_val(), *a, *b;
    if (llvm::PatternMatch::match(part, m_LogicalAnd(m_Value(a), m_Value(b)))) {
      pending.append({a, b});
      continue;
    }
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(part);
    if (!compare || compare->getOperand(0) != value) continue;
    if (auto* bound = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)))
      range = range.intersectWith(ConstantRange::makeExactICmpRegion(compare->getPredicate(), bound->getValue()));
  }
  return range;
}

}  // namespace

void PointerSplitter::FindVectors() {
  llvm::SmallVector<const llvm::Value*> pending;
  for (const llvm::Instruction& instruction : llvm::instructions(function_)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const bool is_index = call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workitem_id_x;
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (is_index || (load && !load->hasMetadata(llvm::LLVMContext::MD_invariant_load))) pending.push_back(&instruction);
  }
  while (!pending.empty()) {
    const llvm::Value* value = pending.pop_back_val();
    if (!in_vectors_.insert(value).second) continue;
    for (const llvm::User* user : value->users()) pending.push_back(user);
  }
}

bool PointerSplitter::AddSum(AddressTerm term, AddressParts& parts) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(term.value);
  if (!instruction) return false;
  const llvm::DataLayout& layout = function_.getDataLayout();
  const llvm::SimplifyQuery query(layout, nullptr, &dominators_, &assumptions_, instruction);
  const bool is_wide = term.value->getType()->getIntegerBitWidth() == kAddressBits;
  if (auto* extension = llvm::dyn_cast<llvm::CastInst>(instruction);
      extension && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension)) {
    // What is extended without its sign is not negative for the next extension.
    const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
    if (!is_wide && is_signed && !term.is_signed) return false;
    return AddTerm({extension->getOperand(0), is_signed, term.scale}, parts);
  }
  const unsigned opcode = instruction->getOpcode();
  if (opcode == llvm::Instruction::Add || opcode == llvm::Instruction::Or) {
    const bool is_exact = opcode == llvm::Instruction::Add && is_wide;
    if (!is_exact && !IsExactSum(*instruction, term.is_signed, query)) return false;
    return AddTerm({instruction->getOperand(0), term.is_signed, term.scale}, parts) &&
           AddTerm({instruction->getOperand(1), term.is_signed, term.scale}, parts);
  }
  // A multiple by a constant.
  auto* constant =
      instruction->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1)) : nullptr;
  if (!constant || (opcode != llvm::Instruction::Mul && opcode != llvm::Instruction::Shl)) return false;
  const bool keeps = is_wide || (term.is_signed ? instruction->hasNoSignedWrap() : instruction->hasNoUnsignedWrap());
  const int64_t by = opcode == llvm::Instruction::Mul ? constant->getSExtValue()
                                                      : int64_t{1} << (constant->getZExtValue() & (kAddressBits - 1));
  int64_t scale;
  if (!keeps || (by < 0 && !term.is_signed) || llvm::MulOverflow(term.scale, by, scale)) return false;
  return AddTerm({instruction->getOperand(0), term.is_signed, scale}, parts);
}

// Adds the term, or the terms that it is the sum of. False: there would be too many.
bool PointerSplitter::AddTerm(AddressTerm term, AddressParts& parts) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(term.value)) {
    const llvm::APInt value = term.is_signed ? constant->getValue().sextOrTrunc(kAddressBits)
                                             : constant->getValue().zextOrTrunc(kAddressBits);
    parts.bytes += static_cast<int64_t>(static_cast<uint64_t>(term.scale) * value.getZExtValue());
    return true;
  }
  if (IsShared(term.value)) {
    parts.shared.push_back(term);
  } else {
    AddressParts inner = parts;
    if (AddSum(term, inner)) {
      parts = std::move(inner);
    } else {
      parts.lane.push_back(term);
    }
  }
  return parts.shared.size() + parts.lane.size() <= kMostTerms;
}

std::optional<AddressParts> PointerSplitter::PartsOf(Value* pointer) {
  AddressParts parts;
  const llvm::DataLayout& layout = function_.getDataLayout();
  while (!IsShared(pointer)) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
      auto known = loop_pointers_.find(phi);
      if (known == loop_pointers_.end() && !FindLoopPointer(phi)) return std::nullopt;
      break;
    }
    auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    if (!step || step->getType()->isVectorTy()) return std::nullopt;
    llvm::SmallMapVector<Value*, llvm::APInt, 4> variables;
    llvm::APInt constant(kAddressBits, 0);
    if (!step->collectOffset(layout, kAddressBits, variables, constant)) return std::nullopt;
    parts.bytes += constant.getSExtValue();
    for (const auto& [value, scale] : variables)
      if (!AddTerm({value, true, scale.getSExtValue()}, parts)) return std::nullopt;
    pointer = step->getPointerOperand();
  }
  parts.root = pointer;
  return parts;
}

const PointerSplitter::LoopPointer* PointerSplitter::FindLoopPointer(llvm::PHINode* phi) {
  auto [known, is_new] = loop_pointers_.try_emplace(phi);
  if (!is_new) return known->second ? &*known->second : nullptr;
  const llvm::Loop* loop = loops_.getLoopFor(phi->getParent());
  if (!loop || loop->getHeader() != phi->getParent() || phi->getNumIncomingValues() != 2) return nullptr;
  const unsigned back = loop->contains(phi->getIncomingBlock(0)) ? 0 : 1;
  LoopPointer found = {{}, {}, phi->getIncomingBlock(1 - back), phi->getIncomingBlock(back)};
  if (!loop->contains(found.latch) || loop->contains(found.entry)) return nullptr;
  std::optional<AddressParts> start = PartsOf(phi->getIncomingValue(1 - back));
  std::optional<AddressParts> step = PartsOf(phi->getIncomingValue(back));  // ends at the phi, which is marked
  if (!start || !step || step->root != phi || !step->lane.empty()) return nullptr;
  // A start in terms of a pointer that is no loop's.
  if (auto* outer = llvm::dyn_cast<llvm::PHINode>(start->root); outer && !IsShared(outer) && !FindLoopPointer(outer))
    return nullptr;
  found.start = *std::move(start);
  found.step = *std::move(step);
  loop_pointers_[phi] = std::move(found);
  return &*loop_pointers_[phi];
}

ConstantRange PointerSplitter::RangeOfValue(Value* value, Value* condition, llvm::Instruction* at) const {
  const llvm::SimplifyQuery query(function_.getDataLayout(), nullptr, &dominators_, &assumptions_, at);
  ConstantRange range = llvm::computeConstantRangeIncludingKnownBits(value, /*ForSigned=*/true, query);
  if (condition) range = range.intersectWith(RangeUnder(condition, value, range.getBitWidth()));
  // Comparisons often are with the value that is extended.
  auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
  if (cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast)) {
    const ConstantRange inner = RangeOfValue(cast->getOperand(0), condition, at);
    range = range.intersectWith(llvm::isa<llvm::SExtInst>(cast) ? inner.signExtend(range.getBitWidth())
                                                                : inner.zeroExtend(range.getBitWidth()));
  }
  return range;
}

ConstantRange PointerSplitter::RangeOf(llvm::ArrayRef<AddressTerm> terms, Value* condition,
                                       llvm::Instruction* at) const {
  ConstantRange sum(llvm::APInt(kAddressBits, 0));
  for (const AddressTerm& term : terms) {
    ConstantRange range = RangeOfValue(term.value, condition, at);
    if (range.getBitWidth() < kAddressBits)
      range = term.is_signed ? range.signExtend(kAddressBits) : range.zeroExtend(kAddressBits);
    const ConstantRange scale(llvm::APInt(kAddressBits, term.scale, /*isSigned=*/true));
    sum = sum.add(range.multiply(scale));
  }
  return sum;
}

std::optional<SplitPointer> PointerSplitter::Split(Value* pointer, Value* condition, uint64_t most,
                                                   llvm::Instruction* at) {
  std::optional<AddressParts> parts = PartsOf(pointer);
  if (!parts) return std::nullopt;
  std::vector<AddressTerm> lane = parts->lane;
  for (Value* root = parts->root; !IsShared(root);) {
    const LoopPointer* loop = FindLoopPointer(llvm::cast<llvm::PHINode>(root));
    if (!loop) return std::nullopt;
    lane.insert(lane.end(), loop->start.lane.begin(), loop->start.lane.end());
    root = loop->start.root;
  }
  ConstantRange range = RangeOf(lane, condition, at);
  // A small constant is the instruction's own.
  const bool is_lanes = parts->bytes > 0 && static_cast<uint64_t>(parts->bytes) <= most && !lane.empty();
  const int64_t lane_bytes = is_lanes ? parts->bytes : 0;
  range = range.add(ConstantRange(llvm::APInt(kAddressBits, lane_bytes)));
  if (range.isEmptySet() || range.getUnsignedMax().ugt(most)) return std::nullopt;
  parts->bytes -= lane_bytes;
  return SplitPointer{EmitBase(*parts, at), EmitOffset(lane, lane_bytes, at)};
}

llvm::Instruction* PointerSplitter::PlaceFor(Value* root, llvm::ArrayRef<AddressTerm> terms,
                                             llvm::Instruction* at) const {
  for (const llvm::Loop* loop = loops_.getLoopFor(at->getParent()); loop; loop = loop->getParentLoop()) {
    const auto changes = [&](const Value* value) { return value && !loop->isLoopInvariant(value); };
    const bool moves = changes(root) || llvm::any_of(terms, [&](const AddressTerm& t) { return changes(t.value); });
    llvm::BasicBlock* before = loop->getLoopPreheader();
    if (moves || !before) break;
    at = before->getTerminator();
  }
  return at;
}

Value* PointerSplitter::Reuse(Sums& sums, const SumKey& key, llvm::Instruction* at,
                              llvm::function_ref<Value*(llvm::IRBuilderBase&)> make) {
  const auto& [root, terms, bytes] = key;
  llvm::Instruction* place = PlaceFor(root, terms, at);
  auto& made = sums[key];
  for (Value* value : made)
    if (dominators_.dominates(value, place)) return value;
  llvm::IRBuilder<> b(place);
  made.push_back(make(b));
  return made.back();
}

Value* PointerSplitter::EmitSum(llvm::IRBuilderBase& b, llvm::ArrayRef<AddressTerm> terms, int64_t bytes,
                                unsigned bits) {
  llvm::Type* type = b.getIntNTy(bits);
  Value* sum = nullptr;
  for (const AddressTerm& term : terms) {
    Value* value = term.is_signed ? b.CreateSExtOrTrunc(term.value, type) : b.CreateZExtOrTrunc(term.value, type);
    const llvm::APInt scale = llvm::APInt(kAddressBits, term.scale, /*isSigned=*/true).trunc(bits);
    if (scale.isPowerOf2()) {
      value = scale.isOne() ? value : b.CreateShl(value, scale.logBase2());
    } else {
      value = b.CreateMul(value, llvm::ConstantInt::get(type, scale));
    }
    sum = sum ? b.CreateAdd(sum, value) : value;
  }
  llvm::Constant* constant =
      llvm::ConstantInt::get(type, llvm::APInt(kAddressBits, bytes, /*isSigned=*/true).trunc(bits));
  if (!sum) return constant;
  return bytes == 0 ? sum : b.CreateAdd(sum, constant);
}

Value* PointerSplitter::EmitBase(const AddressParts& parts, llvm::Instruction* at) {
  Value* root = parts.root;
  if (!IsShared(root)) root = EmitTwin(llvm::cast<llvm::PHINode>(root));
  if (parts.shared.empty() && parts.bytes == 0) return root;
  return Reuse(bases_, {root, parts.shared, parts.bytes}, at, [&](llvm::IRBuilderBase& b) {
    return b.CreatePtrAdd(root, EmitSum(b, parts.shared, parts.bytes, kAddressBits));
  });
}

// Loops whose pointers start at one base and move alike share the twin.
Value* PointerSplitter::EmitTwin(llvm::PHINode* phi) {
  if (Value* twin = twins_.lookup(phi)) return twin;
  const LoopPointer& loop = *loop_pointers_[phi];
  Value* start = EmitBase(loop.start, loop.entry->getTerminator());
  Value*& equal = equal_twins_[{phi->getParent(), start, loop.step.shared, loop.step.bytes}];
  if (!equal) {
    llvm::IRBuilder<> b(phi);
    llvm::PHINode* twin = b.CreatePHI(phi->getType(), 2);
    b.SetInsertPoint(loop.latch->getTerminator());
    twin->addIncoming(start, loop.entry);
    twin->addIncoming(b.CreatePtrAdd(twin, EmitSum(b, loop.step.shared, loop.step.bytes, kAddressBits)), loop.latch);
    equal = twin;
  }
  return twins_[phi] = equal;
}

Value* PointerSplitter::EmitOffset(llvm::ArrayRef<AddressTerm> terms, int64_t bytes, llvm::Instruction* at) {
  return Reuse(offsets_, {nullptr, terms.vec(), bytes}, at, [&](llvm::IRBuilderBase& b) -> Value* {
    if (bytes == 0) return EmitSum(b, terms, 0, kOffsetBits);
    return b.CreateAdd(EmitOffset(terms, 0, at), b.getInt32(bytes));
  });
}

}  // namespace tritond::compiler::amd
