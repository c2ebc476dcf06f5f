// SPDX-License-Identifier: Apache-2.0
// How many words the values of a function take at once, in the order that it has. A value takes words from its
// instruction to its last use, and through all blocks in between. Arguments and constants take none, for instructions
// read them where they are. Predicates have registers of their own.
//
// Liveness by values: from each use back through the predecessors, until the definition is reached. Each value and
// block is visited once.
#include "compiler/targets/nvidia/register_pressure.h"

#include <limits>

#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

constexpr int64_t kMostRegisters = 255;  // of a thread

// Whether the value is quickly computed again.
bool IsQuick(const Value& value) {
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::SelectInst>(value);
}

// Whether an instruction of the block makes the value with others, each in a register of its own.
bool IsPartOfSeveral(const Value& value) {
  auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&value);
  auto* whole = part ? llvm::dyn_cast<Instruction>(part->getAggregateOperand()) : nullptr;
  return whole && whole->getParent() == part->getParent() && !llvm::isa<llvm::PHINode, llvm::ExtractValueInst>(whole);
}

}  // namespace

int64_t RegisterWords(const Value& value, const llvm::DataLayout& layout) {
  llvm::Type* type = value.getType();
  if (!type->isSized() || type->isIntegerTy(1)) return 0;
  return llvm::divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32);
}

int64_t RegistersOf(const llvm::Function& kernel, int64_t blocks) {
  int64_t threads = 1;
  kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads);
  return std::min(kMostRegisters, kRegisters / (blocks * std::max<int64_t>(threads, 1)));
}

LiveWords::LiveWords(const llvm::Function& function) : layout_(function.getParent()->getDataLayout()) {
  for (const BasicBlock& block : function)
    for (const Instruction& instruction : block) MarkLive(instruction);
}

int64_t LiveWords::WordsOf(const Value& value) const { return RegisterWords(value, layout_); }

// The blocks at whose ends `value` is live.
void LiveWords::MarkLive(const Instruction& value) {
  if (WordsOf(value) == 0) return;
  llvm::SmallVector<const BasicBlock*> pending;
  auto leave = [&](const BasicBlock* block) {
    if (live_out_[block].insert(&value).second && block != value.getParent()) pending.push_back(block);
  };
  for (const llvm::Use& use : value.uses()) {
    auto* user = llvm::cast<Instruction>(use.getUser());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
      leave(phi->getIncomingBlock(use));
    else if (user->getParent() != value.getParent())
      for (const BasicBlock* before : llvm::predecessors(user->getParent())) leave(before);
  }
  while (!pending.empty())
    for (const BasicBlock* before : llvm::predecessors(pending.pop_back_val())) leave(before);
}

int64_t LiveWords::MostIn(const BasicBlock& block, bool apart) const {
  llvm::DenseSet<const Value*> live = live_out_.lookup(&block);
  int64_t words = 0;
  for (const Value* value : live) words += WordsOf(*value);
  int64_t most = words;
  auto end = [&](const Value& value) {
    if (live.erase(&value)) words -= WordsOf(value);
  };
  for (const Instruction& instruction : llvm::reverse(block)) {
    if (apart && IsPartOfSeveral(instruction)) continue;
    end(instruction);
    if (apart && instruction.getType()->isAggregateType())
      for (const Value* part : instruction.users())
        if (IsPartOfSeveral(*part)) end(*part);
    if (llvm::isa<llvm::PHINode>(instruction)) continue;
    for (const Value* operand : instruction.operands())
      if (llvm::isa<Instruction>(operand) && live.insert(operand).second) words += WordsOf(*operand);
    most = std::max(most, words);
  }
  return most;
}

int64_t LiveWords::Before(const Instruction& instruction) const {
  const BasicBlock* block = instruction.getParent();
  llvm::DenseSet<const Value*> live = live_out_.lookup(block);
  for (const Instruction& each : llvm::reverse(*block)) {
    live.erase(&each);
    for (const Value* operand : each.operands())
      if (llvm::isa<Instruction>(operand) && !llvm::isa<llvm::PHINode>(each)) live.insert(operand);
    if (&each == &instruction) break;
  }
  int64_t words = 0;
  for (const Value* value : live)
    if (llvm::cast<Instruction>(value)->getParent() == block || !IsQuick(*value)) words += WordsOf(*value);
  return words;
}

int64_t LiveWords::KeptAtEnd(const BasicBlock& block, const llvm::Loop& loop) const {
  int64_t words = 0;
  for (const Value* value : live_out_.lookup(&block)) {
    if (!IsQuick(*value) || loop.contains(llvm::cast<Instruction>(value))) words += WordsOf(*value);
  }
  return words;
}

int64_t MaxLiveWords(const llvm::Function& function) {
  const LiveWords live(function);
  int64_t most = 0;
  for (const BasicBlock& block : function) most = std::max(most, live.MostIn(block));
  return most;
}

int64_t WordsThatLoopsKeep(const llvm::Function& function) {
  if (function.isDeclaration()) return 0;
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
  const llvm::LoopInfo loops(dominators);
  if (loops.empty()) return 0;
  const LiveWords live(function);
  int64_t most = 0;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const BasicBlock* block : loop->blocks()) least = std::min(least, live.KeptAtEnd(*block, *loop));
    most = std::max(most, least);
  }
  return most;
}

}  // namespace tritond::compiler::nvidia
