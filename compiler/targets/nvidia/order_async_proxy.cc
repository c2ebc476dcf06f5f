// SPDX-License-Identifier: Apache-2.0
// wgmma reads shared memory through another path ("proxy") than loads, stores and cp.async. What a thread has written
// reaches that path only after a fence (PTX ISA, "Async proxy"), and other threads' wgmma only after a barrier after
// the fence:
//
//   st.shared …                        st.shared …
//   barrier.sync                  ->   fence.proxy.async
//   wgmma …                            barrier.sync
//                                      wgmma …
//
// There is a barrier between each write and its wgmma (insert_barriers.cc). The last barrier in front of a wgmma, on
// each way to it, gets the fence: whatever a thread has written before, it has written before that. Others need none.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

bool IsAssembly(const llvm::Instruction& instruction, llvm::StringRef text) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && llvm::StringRef(assembly->getAsmString()).contains(text);
}

// What tells other threads that they may read: also the arrival at an mbarrier.
bool IsBarrier(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return (call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all) ||
         IsAssembly(instruction, "mbarrier.arrive");
}

// Calls may hold wgmma.
bool MayIssueWgmma(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return IsWgmma(instruction) || (callee && !callee->isDeclaration());
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
        if (MayIssueWgmma(instruction)) is_ahead = true;
      }
      if (is_ahead) changed |= begins.insert(&block).second;
    }
  }
  for (llvm::BasicBlock& block : function) {
    bool is_ahead = is_ahead_at_end(block);
    for (llvm::Instruction& instruction : llvm::reverse(block)) {
      if (IsBarrier(instruction) && is_ahead) barriers.push_back(&instruction);
      if (IsBarrier(instruction)) is_ahead = false;
      if (MayIssueWgmma(instruction)) is_ahead = true;
    }
  }
}

}  // namespace

bool IsWgmma(const llvm::Instruction& instruction) { return IsAssembly(instruction, "wgmma.mma_async"); }

void OrderAsyncProxy(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*> barriers;
  for (llvm::Function& function : module) FindLastBarriers(function, barriers);
  if (barriers.empty()) return;
  llvm::Function* fence =
      llvm::Intrinsic::getOrInsertDeclaration(&module, llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta);
  for (llvm::Instruction* barrier : barriers) llvm::CallInst::Create(fence, "", barrier->getIterator());
}

}  // namespace tritond::compiler::nvidia
