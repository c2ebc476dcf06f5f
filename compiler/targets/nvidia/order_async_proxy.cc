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
// Nor does one where a thread has accessed no shared memory by the common path since such a fence: what bulk copies
// bring comes by the path of wgmma.
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

// Instructions that access shared memory, if at all, by the path of wgmma, or only mbarriers.
constexpr llvm::StringLiteral kOtherPath[] = {"wgmma.", "mbarrier.", "cp.async.bulk.", "tcgen05."};

// Copies that the thread has started write until then.
bool EndsCopies(const llvm::Instruction& instruction) {
  return IsCallOf(instruction, llvm::Intrinsic::nvvm_cp_async_wait_group) ||
         IsCallOf(instruction, llvm::Intrinsic::nvvm_cp_async_wait_all);
}

// Whether the thread, or a copy that it has started, may access shared memory by the common path.
bool MayAccessShared(const llvm::Instruction& instruction) {
  auto is_apart = [](const llvm::Value* pointer) {
    const unsigned space = llvm::cast<llvm::PointerType>(pointer->getType())->getAddressSpace();
    return space != 0 && space != 3;
  };
  if (EndsCopies(instruction)) return true;
  if (!instruction.mayReadOrWriteMemory()) return false;
  if (auto* pointer = llvm::getLoadStorePointerOperand(&instruction)) return !is_apart(pointer);
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return true;
  if (auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
    llvm::StringRef text(assembly->getAsmString());
    if (llvm::any_of(kOtherPath, [&](llvm::StringRef name) { return text.contains(name); })) return false;
    return text.contains("shared") || !(text.contains("global") || text.contains("fence"));
  }
  if (call->onlyAccessesInaccessibleMemory() || IsBarrier(instruction)) return false;
  llvm::Function* callee = call->getCalledFunction();
  if (!callee || !callee->isIntrinsic()) return true;
  return llvm::any_of(call->args(),
                      [&](const llvm::Use& use) { return use->getType()->isPointerTy() && !is_apart(use.get()); });
}

// Those of `last`, the last barriers of `function` in front of its products, with such an access since the one before.
llvm::SmallPtrSet<llvm::Instruction*, 8> WithAccesses(llvm::Function& function,
                                                      const llvm::SmallPtrSetImpl<llvm::Instruction*>& last) {
  llvm::SmallPtrSet<llvm::Instruction*, 8> found;
  // Any wait at an mbarrier may be the end of copies by threads.
  if (llvm::any_of(llvm::instructions(function), [](auto& each) { return IsAssembly(each, "cp.async.mbarrier"); })) {
    found.insert(last.begin(), last.end());
    return found;
  }
  llvm::SmallPtrSet<llvm::BasicBlock*, 8> begins;  // blocks that begin after one
  // Callers may have made one.
  if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) begins.insert(&function.getEntryBlock());
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock& block : function) {
      bool accesses = begins.contains(&block);
      for (llvm::Instruction& instruction : block) {
        accesses |= MayAccessShared(instruction);
        if (!last.contains(&instruction)) continue;
        if (accesses) changed |= found.insert(&instruction).second;
        accesses = false;
      }
      if (!accesses) continue;
      for (llvm::BasicBlock* next : llvm::successors(&block)) changed |= begins.insert(next).second;
    }
  }
  return found;
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
  for (llvm::Function& function : module) {
    const auto with_accesses = WithAccesses(function, is_last);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (with_accesses.contains(&instruction) ||
          (IsOfSomeWarps(instruction) && numbers.contains(NumberOf(instruction))))
        barriers.push_back(&instruction);
  }
  llvm::Function* fence =
      llvm::Intrinsic::getOrInsertDeclaration(&module, llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta);
  for (llvm::Instruction* barrier : barriers) llvm::CallInst::Create(fence, "", barrier->getIterator());
}

}  // namespace tritond::compiler::nvidia
