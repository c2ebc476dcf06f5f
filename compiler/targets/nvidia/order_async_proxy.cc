// SPDX-License-Identifier: Apache-2.0
// wgmma, and tcgen05.mma like it, reads shared memory through another path ("proxy") than loads, stores and cp.async.
// What a thread has written reaches that path only after a fence (PTX ISA, "Async proxy"). It reaches other threads'
// wgmma only after a barrier after the fence:
//
//   st.shared …                        st.shared …
//   barrier.sync                  ->   fence.proxy.async
//   wgmma …                            barrier.sync
//                                      wgmma …
//
// There is a barrier between each write and its wgmma (insert_barriers.cc). The last barrier in front of a wgmma, on
// each way to it, gets the fence. Whatever a thread has written before, it has written before that. Others need none.
//
// Warps of partitions come to a barrier at other places of the code than those that it orders them with. So what holds
// for one place holds for all with the barrier's number.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

bool IsCallOf(const llvm::Instruction& instruction, llvm::Intrinsic::ID id) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == id;
}

bool IsAssembly(const llvm::Instruction& instruction, llvm::StringRef text) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && llvm::StringRef(assembly->getAsmString()).contains(text);
}

// All lanes of a warp wait for each other, and one tells other warps that they may read.
bool IsArrivalOfAWarp(const llvm::Instruction& instruction) {
  return IsAssembly(instruction, "bar.warp.sync") && IsAssembly(instruction, "mbarrier.arrive");
}

bool IsOfSomeWarps(const llvm::Instruction& instruction) {
  return IsCallOf(instruction, llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count);
}

// What tells other threads that they may read.
bool IsBarrier(const llvm::Instruction& instruction) {
  return IsCallOf(instruction, llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all) || IsOfSomeWarps(instruction) ||
         IsArrivalOfAWarp(instruction);
}

llvm::Value* NumberOf(const llvm::Instruction& barrier) { return llvm::cast<llvm::CallInst>(barrier).getArgOperand(0); }

bool IssuesProducts(const llvm::Instruction& instruction) {
  return IsWgmma(instruction) || IsTensorMemoryProduct(instruction);
}

// Of a module with such products, calls may hold one.
bool MayIssueProducts(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return IssuesProducts(instruction) || (callee && !callee->isDeclaration());
}

// Appends the barriers of `function` after which wgmma may come before another barrier.
void FindLastBarriers(llvm::Function& function, llvm::SmallVectorImpl<llvm::Instruction*>& barriers) {
  llvm::SmallPtrSet<llvm::BasicBlock*, 8> begins;  // blocks at whose beginning such a wgmma is ahead
  auto is_ahead_at_end = [&](llvm::BasicBlock& block) {
    return llvm::any_of(llvm::successors(&block), [&](llvm::BasicBlock* next) { return begins.contains(next); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock& block : function) {
      bool is_ahead = is_ahead_at_end(block);
      for (llvm::Instruction& instruction : llvm::reverse(block)) {
        if (IsBarrier(instruction)) is_ahead = false;
        if (MayIssueProducts(instruction)) is_ahead = true;
      }
      if (is_ahead) changed |= begins.insert(&block).second;
    }
  }
  for (llvm::BasicBlock& block : function) {
    bool is_ahead = is_ahead_at_end(block);
    for (llvm::Instruction& instruction : llvm::reverse(block)) {
      if (IsBarrier(instruction) && is_ahead) barriers.push_back(&instruction);
      if (IsBarrier(instruction)) is_ahead = false;
      if (MayIssueProducts(instruction)) is_ahead = true;
    }
  }
}

}  // namespace

bool IsWgmma(const llvm::Instruction& instruction) { return IsAssembly(instruction, "wgmma.mma_async"); }

bool IsTensorMemoryProduct(const llvm::Instruction& instruction) { return IsAssembly(instruction, "tcgen05.mma"); }

void OrderAsyncProxy(llvm::Module& module) {
  // GPUs without them lack the fence, too.
  if (llvm::none_of(module, [](llvm::Function& f) { return llvm::any_of(llvm::instructions(f), IssuesProducts); }))
    return;
  llvm::SmallVector<llvm::Instruction*> last, barriers;
  for (llvm::Function& function : module) FindLastBarriers(function, last);
  if (last.empty()) return;
  llvm::SmallPtrSet<llvm::Value*, 4> numbers;
  llvm::SmallPtrSet<llvm::Instruction*, 8> is_last(last.begin(), last.end());
  for (llvm::Instruction* barrier : last)
    if (IsOfSomeWarps(*barrier)) numbers.insert(NumberOf(*barrier));
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (is_last.contains(&instruction) || (IsOfSomeWarps(instruction) && numbers.contains(NumberOf(instruction))))
        barriers.push_back(&instruction);
  llvm::Function* fence =
      llvm::Intrinsic::getOrInsertDeclaration(&module, llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta);
  for (llvm::Instruction* barrier : barriers) llvm::CallInst::Create(fence, "", barrier->getIterator());
}

}  // namespace tritond::compiler::nvidia
