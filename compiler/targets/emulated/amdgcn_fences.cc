// SPDX-License-Identifier: Apache-2.0
// "User Guide for AMDGPU Backend", "Memory Model": s_barrier alone holds threads up, and orders nothing. A fence before
// it waits for the thread's own accesses to LDS, or an s_waitcnt does. A fence after it keeps later accesses there;
// inline assembly, which LLVM moves nothing across, needs none.
//
//   fence syncscope("workgroup") release
//   call void @llvm.amdgcn.s.barrier()
//   fence syncscope("workgroup") acquire
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

namespace tritond::compiler::emulated {
namespace {

// The LDS counter of s_waitcnt.
bool WaitsForShared(const llvm::CallInst& call, llvm::StringRef arch) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id != llvm::Intrinsic::amdgcn_s_waitcnt && id != llvm::Intrinsic::amdgcn_s_wait_dscnt) return false;
  const uint64_t operand = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
  if (id == llvm::Intrinsic::amdgcn_s_wait_dscnt) return operand == 0;
  return (arch.starts_with("gfx11") ? operand >> 4 & 63 : operand >> 8 & 15) == 0;
}

// Of the accesses of a whole work-group to shared memory.
bool IsFence(const llvm::Instruction& instruction, bool releases) {
  auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction);
  if (!fence) return false;
  const llvm::AtomicOrdering ordering = fence->getOrdering();
  if (releases ? !llvm::isReleaseOrStronger(ordering) : !llvm::isAcquireOrStronger(ordering)) return false;
  const llvm::StringRef scope = fence->getContext().getSyncScopeName(fence->getSyncScopeID()).value_or("");
  if (scope.starts_with("singlethread") || scope.starts_with("wavefront")) return false;
  const llvm::MMRAMetadata spaces(*fence);
  return !spaces.hasTagWithPrefix("amdgpu-synchronize-as") || spaces.hasTag("amdgpu-synchronize-as", "local");
}

constexpr unsigned kGlobalSpace = 1, kConstantSpace = 4, kBufferSpace = 8;

// Past what neither fences nor touches shared memory.
bool IsSkipped(const llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() == kGlobalSpace || load->getPointerAddressSpace() == kConstantSpace;
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    if (call->arg_size() > 0 && call->getArgOperand(0)->getType()->isPointerTy() &&
        call->getArgOperand(0)->getType()->getPointerAddressSpace() == kBufferSpace)
      return true;
  return !instruction.mayReadOrWriteMemory() || llvm::isa<llvm::FenceInst>(instruction);
}

bool IsSignal(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier_signal;
}

// What comes before, or after, also in another block where control goes no other way. LLVM may put a branch between a
// fence and its barrier. Null: the end, or a block that the walk has left before.
class Walk final {
 public:
  const llvm::Instruction* Before(const llvm::Instruction* i) {
    if (const llvm::Instruction* previous = i->getPrevNode()) return previous;
    const llvm::BasicBlock* block = i->getParent()->getSinglePredecessor();
    return block && left_.insert(i->getParent()).second ? block->getTerminator() : nullptr;
  }
  const llvm::Instruction* After(const llvm::Instruction* i) {
    if (const llvm::Instruction* next = i->getNextNode()) return next;
    const llvm::BasicBlock* block = i->getParent()->getUniqueSuccessor();
    return block && left_.insert(i->getParent()).second ? &block->front() : nullptr;
  }

 private:
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> left_;
};

}  // namespace

bool OrdersShared(const llvm::CallInst& barrier, llvm::StringRef arch) {
  const llvm::Instruction* first_half = &barrier;
  if (barrier.getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier_wait)
    while (first_half && !IsSignal(*first_half)) first_half = first_half->getPrevNode();
  if (!first_half) return false;
  bool releases = false, waits = false;
  Walk back, ahead;
  for (const llvm::Instruction* i = back.Before(first_half); i && !releases && !waits; i = back.Before(i)) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(i)) waits = WaitsForShared(*call, arch);
    releases = IsFence(*i, /*releases=*/true);
    if (!waits && !releases && !IsSkipped(*i)) break;
  }
  if (waits) return true;
  for (const llvm::Instruction* i = ahead.After(&barrier); releases && i; i = ahead.After(i)) {
    if (IsFence(*i, /*releases=*/false)) return true;
    if (!IsSkipped(*i)) break;
  }
  return false;
}

}  // namespace tritond::compiler::emulated
