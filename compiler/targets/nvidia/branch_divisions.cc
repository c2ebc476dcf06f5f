// SPDX-License-Identifier: Apache-2.0
// A division of 64 bits is a function of a hundred instructions. LLVM asks for each one whether 32 bits hold dividend
// and divisor, which is nearly always so, and then divides in 32 bits. That are as many branches as a thread has
// elements, and as many reciprocals of one divisor, for the assembler shares nothing across branches. So a thread asks
// once for all that it divides by one number:
//
//   %q0 = sdiv i64 %x0, %d ; %r0 = srem i64 %x0, %d ; %q1 = sdiv i64 %x1, %d ; …
//   ->
//   if (%x0 | %x1 | … | %d) < 2^32: %q0 = udiv i32 %x0, %d ; %r0 = %x0 - %q0 * %d ; %q1 = udiv i32 %x1, %d ; …
//   else:                           as before
//
// One element that needs 64 bits makes the others take the longer way, too. Those of a thread are near each other.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BinaryOperator;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kShortBits = 32;

// Divisions of one block by one number.
using Run = llvm::SmallVector<BinaryOperator*>;

bool IsQuotient(const BinaryOperator& division) {
  return division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::UDiv;
}

// Whether it computes its result from its operands alone, wherever it stands, and is no division itself.
bool IsMovable(const Instruction& op) {
  return !op.isTerminator() && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(op) && !op.mayHaveSideEffects() &&
         !op.mayReadFromMemory() && !op.getType()->isTokenTy() && !DividesLong(op);
}

// Moves what `value` is computed from to `place`, if all of it can stand there.
bool MoveTo(Instruction& place, Value* value) {
  llvm::SmallSetVector<Instruction*, 8> needed;
  auto add = [&](Value* operand) {
    auto* op = llvm::dyn_cast<Instruction>(operand);
    if (op && op->getParent() == place.getParent() && (op == &place || place.comesBefore(op))) needed.insert(op);
  };
  add(value);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!IsMovable(*needed[i])) return false;
    for (Value* operand : needed[i]->operands()) add(operand);
  }
  auto order = needed.takeVector();
  llvm::sort(order, [](Instruction* a, Instruction* b) { return a->comesBefore(b); });
  for (Instruction* op : order) op->moveBefore(place.getIterator());
  return true;
}

bool IsDivision(const Instruction& op) { return DividesLong(op) && !llvm::isa<llvm::Constant>(op.getOperand(1)); }

// The divisions of the block by the number that `first` divides by, which no division before it does. They follow it
// at once then. None takes another one's result.
Run FindRun(BinaryOperator& first) {
  Run run{&first};
  const auto end = first.getParent()->end();
  for (Instruction& op : llvm::make_early_inc_range(llvm::make_range(std::next(first.getIterator()), end))) {
    if (!IsDivision(op) || op.getOperand(1) != first.getOperand(1) || !MoveTo(first, op.getOperand(0))) continue;
    op.moveAfter(run.back());
    run.push_back(llvm::cast<BinaryOperator>(&op));
  }
  return run;
}

llvm::SmallVector<Run> FindRuns(llvm::BasicBlock& block) {
  llvm::SmallVector<Run> runs;
  llvm::SmallPtrSet<const Instruction*, 16> seen;
  for (Instruction& op : block) {
    if (!IsDivision(op) || seen.contains(&op)) continue;
    Run run = FindRun(llvm::cast<BinaryOperator>(op));
    seen.insert_range(run);
    const auto differs = [&](BinaryOperator* other) { return other->getOperand(0) != run[0]->getOperand(0); };
    if (llvm::any_of(run, differs)) runs.push_back(std::move(run));
  }
  return runs;
}

// Whether 32 bits hold what the run divides, and by what.
Value* AreAllShort(llvm::IRBuilder<>& b, const Run& run) {
  llvm::SmallSetVector<Value*, 8> numbers;
  for (BinaryOperator* division : run) numbers.insert_range(division->operands());
  Value* bits = nullptr;
  for (Value* number : numbers) bits = bits ? b.CreateOr(bits, number) : number;
  Value* high = b.CreateTrunc(b.CreateLShr(bits, kShortBits), b.getInt32Ty());
  return b.CreateICmpEQ(high, b.getInt32(0));
}

// The divisions stand side by side.
void Branch(const Run& run) {
  llvm::BasicBlock* head = run[0]->getParent();
  llvm::Function* function = head->getParent();
  llvm::BasicBlock* tail = head->splitBasicBlock(std::next(run.back()->getIterator()));
  auto* narrow = llvm::BasicBlock::Create(head->getContext(), "", function, tail);
  auto* wide = llvm::BasicBlock::Create(head->getContext(), "", function, tail);
  head->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> b(head);
  b.SetCurrentDebugLocation(run[0]->getDebugLoc());
  b.CreateCondBr(AreAllShort(b, run), narrow, wide);
  llvm::IRBuilder<>(wide).CreateBr(tail);
  b.SetInsertPoint(narrow);
  Value* divisor = b.CreateTrunc(run[0]->getOperand(1), b.getInt32Ty());
  llvm::MapVector<Value*, std::pair<Value*, Value*>> short_ones;  // by dividends: as 32 bits, and their quotients
  for (BinaryOperator* division : run) {
    auto& [dividend, quotient] = short_ones[division->getOperand(0)];
    if (quotient) continue;
    dividend = b.CreateTrunc(division->getOperand(0), b.getInt32Ty());
    quotient = b.CreateUDiv(dividend, divisor);
  }
  llvm::IRBuilder<> results(tail, tail->begin());
  for (BinaryOperator* division : run) {
    auto [dividend, quotient] = short_ones[division->getOperand(0)];
    Value* value = IsQuotient(*division) ? quotient : b.CreateSub(dividend, b.CreateMul(quotient, divisor));
    llvm::PHINode* result = results.CreatePHI(division->getType(), 2);
    division->replaceAllUsesWith(result);
    division->moveBefore(wide->getTerminator()->getIterator());
    result->addIncoming(b.CreateZExt(value, division->getType()), narrow);
    result->addIncoming(division, wide);
  }
  b.CreateBr(tail);
}

}  // namespace

void BranchDivisions(llvm::Module& module) {
  llvm::SmallVector<Run> runs;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) llvm::append_range(runs, FindRuns(block));
  for (const Run& run : runs) Branch(run);
}

}  // namespace tritond::compiler::nvidia
