// SPDX-License-Identifier: Apache-2.0
// libdevice's tanh has two forms: a polynomial for magnitudes below a bound, and one of an exponential and a
// reciprocal. Releases of libdevice differ in whether they compute both or branch, for each element. The second form
// takes more than half of the instructions, and two of them run at an eighth of the others' rate. A function
// whose result is scaled caps numbers softly, as in attention's scores. Most of these are small beside the cap, for
// else it would change them all. So a thread asks once for several elements, if all results are multiplied by one
// number:
//
//   %y0 = call @__nv_tanhf(%x0) ; %y1 = call @__nv_tanhf(%x1) ; …
//   ->
//   if max(|%x0|, |%x1|, …) >= bound: %y0 = call @__nv_tanhf(%x0) ; %y1 = call @__nv_tanhf(%x1) ; …
//   else:                             %y0 = call @polynomial(%x0) ; %y1 = call @polynomial(%x1) ; …
//
// @polynomial is a copy of the function whose comparison with the bound is false. So all results keep their bits. NaN
// fails the comparison, and is left to the polynomial as before. No argument is live beside its result, so a branch
// takes few more registers.
//
// A branch costs as much as a few instructions. If one element of a warp is large, the warp takes the longer path for
// all. Where one in ten thousand is, branches of 8 to 32 elements cost nearly the same, of which 16 is the best.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

// Instructions of the second form that the branch spares, and of an element's part in the question. What a branch
// costs in instructions: its own, and those that the thread could execute while it waits for the question's answer.
constexpr size_t kSpared = 9, kAsked = 1, kBranch = 32;
constexpr size_t kFewest = kBranch / (kSpared - kAsked);
constexpr size_t kMost = 16;

using Calls = llvm::SmallVector<CallInst*, kMost>;

// Whether it is |x|, which libdevice takes by one of two functions.
bool IsMagnitudeOf(const Value* value, const Value* x) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value))
    return llvm::all_of(phi->incoming_values(), [&](const llvm::Use& use) {
      return !llvm::isa<llvm::PHINode>(use.get()) && IsMagnitudeOf(use.get(), x);
    });
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (!call || call->getArgOperand(0) != x) return false;
  const llvm::StringRef name = call->getCalledFunction()->getName();
  return name == "llvm.fabs.f32" || name.starts_with("llvm.nvvm.fabs.");
}

// The comparison |x| >= bound that decides between the forms; null where there is none, or are several.
llvm::FCmpInst* FindChoice(llvm::Function& function) {
  using namespace llvm::PatternMatch;
  llvm::FCmpInst* found = nullptr;
  for (Instruction& instruction : llvm::instructions(function)) {
    auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
    const llvm::APFloat* bound = nullptr;
    if (!compare || compare->getPredicate() != llvm::FCmpInst::FCMP_OGE ||
        !match(compare->getOperand(1), m_APFloat(bound)) || !IsMagnitudeOf(compare->getOperand(0), function.getArg(0)))
      continue;
    // Beyond 1 there is no polynomial: such a bound says where the result is 1.
    if (bound->convertToFloat() <= 0 || bound->convertToFloat() >= 1) continue;
    if (found) return nullptr;
    found = compare;
  }
  return found;
}

// The numbers that multiply a value, also after it is rounded to another type.
void AddFactors(const Value& value, llvm::SmallPtrSetImpl<const Value*>& factors) {
  for (const llvm::User* user : value.users()) {
    if (llvm::isa<llvm::FPTruncInst, llvm::FPExtInst>(user)) AddFactors(*user, factors);
    auto* op = llvm::dyn_cast<Instruction>(user);
    if (!op || op->getOpcode() != Instruction::FMul) continue;
    factors.insert(op->getOperand(op->getOperand(0) == &value ? 1 : 0));
  }
}

// Whether one number multiplies the results of all calls.
bool IsScaled(const Calls& calls) {
  llvm::SmallPtrSet<const Value*, 4> common;
  AddFactors(*calls[0], common);
  for (const CallInst* call : calls) {
    llvm::SmallPtrSet<const Value*, 4> factors;
    AddFactors(*call, factors);
    common.remove_if([&](const Value* factor) { return !factors.contains(factor); });
  }
  return !common.empty();
}

// Whether it computes its result from its operands alone, wherever it stands.
bool IsMovable(const Instruction& op) {
  return !op.isTerminator() && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(op) && !op.mayHaveSideEffects() &&
         !op.mayReadFromMemory() && !op.getType()->isTokenTy();
}

// Calls of the block that follow each other, with nothing between them that must stay where it is, kMost at most. None
// takes another one's result. What takes a result of them stands after the last one then.
llvm::SmallVector<Calls> FindRuns(llvm::BasicBlock& block, const llvm::Function& tanh) {
  llvm::SmallVector<Calls> runs;
  Calls run;
  llvm::SmallVector<Instruction*> later;
  llvm::SmallPtrSet<const Value*, 16> results;
  auto needs_run = [&](const Instruction& op) {
    return llvm::any_of(op.operands(), [&](const llvm::Use& use) { return results.contains(use.get()); });
  };
  auto close = [&](Instruction& next) {
    if (run.size() >= kFewest && IsScaled(run)) {
      for (CallInst* call : run) call->moveBefore(next.getIterator());
      for (Instruction* op : later) op->moveBefore(next.getIterator());
      runs.push_back(run);
    }
    run.clear(), later.clear(), results.clear();
  };
  for (Instruction& op : llvm::make_early_inc_range(block)) {
    auto* call = llvm::dyn_cast<CallInst>(&op);
    const bool is_tanh = call && call->getCalledFunction() == &tanh;
    if (!is_tanh && run.empty()) continue;
    if (is_tanh ? run.size() == kMost || needs_run(op) : !IsMovable(op)) close(op);
    if (is_tanh) {
      run.push_back(call), results.insert(call);
    } else if (!run.empty() && needs_run(op)) {
      later.push_back(&op), results.insert(&op);
    }
  }
  return runs;
}

// As a tree, so that few of its steps wait for each other.
Value* GreatestMagnitude(llvm::IRBuilder<>& b, llvm::ArrayRef<CallInst*> calls) {
  if (calls.size() == 1) return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, calls[0]->getArgOperand(0));
  const size_t half = calls.size() / 2;
  Value* left = GreatestMagnitude(b, calls.take_front(half));
  // The one that is a number, if one is NaN.
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximumnum, left, GreatestMagnitude(b, calls.drop_front(half)));
}

// The same number, at the block's end, which LLVM takes for another one. Else it squares numbers of both paths ahead of
// them, which takes a register for each. The assembler copies nothing.
Value* Hidden(Value& x, llvm::BasicBlock& block) {
  llvm::IRBuilder<> b(block.getTerminator());
  auto* text = llvm::InlineAsm::get(llvm::FunctionType::get(x.getType(), {x.getType()}, false), "mov.b32 $0, $1;",
                                    "=f,f", /*hasSideEffects=*/false);
  return b.CreateCall(text, {&x});
}

// The calls stand side by side.
void Branch(llvm::ArrayRef<CallInst*> calls, llvm::Function& polynomial, llvm::Value& bound) {
  llvm::BasicBlock* head = calls[0]->getParent();
  llvm::Function* function = head->getParent();
  llvm::BasicBlock* tail = head->splitBasicBlock(std::next(calls.back()->getIterator()));
  auto* large = llvm::BasicBlock::Create(head->getContext(), "", function, tail);
  auto* small = llvm::BasicBlock::Create(head->getContext(), "", function, tail);
  head->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> b(head);
  b.SetCurrentDebugLocation(calls[0]->getDebugLoc());
  b.CreateCondBr(b.CreateFCmpOGE(GreatestMagnitude(b, calls), &bound), large, small);
  llvm::IRBuilder<>(large).CreateBr(tail);
  llvm::IRBuilder<>(small).CreateBr(tail);
  llvm::IRBuilder<> results(tail, tail->begin());
  for (CallInst* call : calls) {
    auto* other = llvm::cast<CallInst>(call->clone());
    other->setCalledFunction(&polynomial);
    other->setArgOperand(0, Hidden(*call->getArgOperand(0), *small));
    other->insertBefore(small->getTerminator()->getIterator());
    llvm::PHINode* result = results.CreatePHI(call->getType(), 2);
    call->replaceAllUsesWith(result);
    call->moveBefore(large->getTerminator()->getIterator());
    result->addIncoming(call, large);
    result->addIncoming(other, small);
  }
}

}  // namespace

void BranchTanh(llvm::Module& module) {
  llvm::Function* tanh = module.getFunction("__nv_tanhf");
  if (!tanh || tanh->isDeclaration()) return;
  llvm::FCmpInst* choice = FindChoice(*tanh);
  if (!choice) return;
  llvm::SmallVector<Calls> runs;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) llvm::append_range(runs, FindRuns(block, *tanh));
  if (runs.empty()) return;
  llvm::ValueToValueMapTy copies;
  llvm::Function* polynomial = llvm::CloneFunction(tanh, copies);
  polynomial->setLinkage(llvm::GlobalValue::InternalLinkage);
  Value* copy = copies[choice];
  copy->replaceAllUsesWith(llvm::ConstantInt::getFalse(module.getContext()));
  for (const Calls& run : runs) Branch(run, *polynomial, *choice->getOperand(1));
}

}  // namespace tritond::compiler::nvidia
