// SPDX-License-Identifier: Apache-2.0
// Waits for copies to LDS, of groups, become waits by the hardware's counter: of instructions in flight, which finish
// in order. When LLVM's passes have copied, unrolled and dropped what they want, each wait looks back:
//
//   load.lds A                                load.lds A
//   load.lds B                                load.lds B
//   commit                                    sched.barrier 0     // C and D must not begin before A and B
//   load.lds C                         ->     load.lds C
//   load.lds D                                load.lds D
//   commit
//   wait.1                                    s.waitcnt vmcnt(2)
//
// The number is that of the copies which have begun, on the way with the fewest, since the last group that the wait is
// for. Other accesses to memory that the same counter counts are left out: the wait is then for more than it must.
//
// LLVM waits by itself for all copies before each access to LDS that may be to what they write. It need not, since
// waits and barriers order them: alias scopes tell it. It does so before a release fence of a work-group's accesses to
// LDS, too. Before a barrier the thread's own accesses alone count, so the fence becomes a wait for these:
//
//   fence syncscope("workgroup") release, LDS             fence syncscope("singlethread") release
//   s.barrier                                      ->     s.waitcnt lgkmcnt(0)
//                                                         s.barrier
#include <limits>
#include <map>

#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/copy_marks.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

namespace tritond::compiler::amd {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Function;
using llvm::Instruction;

constexpr unsigned kAllFinish = std::numeric_limits<unsigned>::max();  // no group to wait for
// The counters have six bits, all of which set mean no wait.
constexpr unsigned kAnyInFlight = 63, kMostInFlight = kAnyInFlight - 1;
constexpr unsigned kSharedSpace = 3;

bool IsCopy(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::amdgcn_global_load_lds:
    case llvm::Intrinsic::amdgcn_global_load_async_to_lds_b8:
    case llvm::Intrinsic::amdgcn_global_load_async_to_lds_b32:
    case llvm::Intrinsic::amdgcn_global_load_async_to_lds_b64:
    case llvm::Intrinsic::amdgcn_global_load_async_to_lds_b128:
      return true;
    default:
      return false;
  }
}

llvm::StringRef CalleeOf(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<CallInst>(&instruction);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : llvm::StringRef();
}

bool IsCommit(const Instruction& instruction) { return CalleeOf(instruction) == kCommitCopies; }

// The groups that may be in flight after a wait; nullopt for other instructions.
std::optional<unsigned> GroupsOfWait(const Instruction& instruction) {
  llvm::StringRef name = CalleeOf(instruction);
  unsigned groups = 0;
  if (!name.consume_front(kWaitForCopies) || name.getAsInteger(10, groups)) return std::nullopt;
  return groups;
}

// Whether anything may happen to groups in the call.
bool IsOpaque(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call || call->isInlineAsm()) return false;
  return !call->getCalledFunction() || !call->getCalledFunction()->isDeclaration();
}

// Looks back from a wait.
class CopiesBefore final {
 public:
  explicit CopiesBefore(const Function& function)
      : is_kernel_(function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL) {}

  // The copies begun after the last group that a wait for all but `groups` groups is for; kAllFinish: there is none.
  unsigned Fewest(const Instruction& wait, unsigned groups) {
    fewest_ = kAllFinish;
    LookBack(wait.getParent(), wait.getIterator(), groups, 0);
    while (!waiting_.empty()) {
      const auto [block, left] = waiting_.pop_back_val();
      LookBack(block, block->end(), left, at_end_.at({block, left}));
    }
    at_end_.clear();
    return fewest_;
  }

 private:
  // From `end` to the block's beginning; `left` groups may be in flight, `copies` have been passed.
  void LookBack(const BasicBlock* block, BasicBlock::const_iterator end, unsigned left, unsigned copies) {
    for (auto at = end; at != block->begin();) {
      const Instruction& instruction = *--at;
      copies += IsCopy(instruction);
      const bool is_last = IsCommit(instruction) && left == 0;
      if (is_last || IsOpaque(instruction)) return Found(copies);
      if (IsCommit(instruction)) --left;
    }
    if (block->isEntryBlock() && !is_kernel_) return Found(copies);
    for (const BasicBlock* before : llvm::predecessors(block)) {
      auto [known, is_new] = at_end_.try_emplace({before, left}, copies);
      if (!is_new && known->second <= copies) continue;
      known->second = copies;
      waiting_.push_back({before, left});
    }
  }

  void Found(unsigned copies) { fewest_ = std::min(fewest_, copies); }

  const bool is_kernel_;
  unsigned fewest_ = kAllFinish;
  std::map<std::pair<const BasicBlock*, unsigned>, unsigned> at_end_;  // copies between a block's end and the wait
  llvm::SmallVector<std::pair<const BasicBlock*, unsigned>> waiting_;
};

// Whether a copy may begin after `commit` before anything is waited for.
bool IsFollowedByCopies(const Instruction& commit) {
  llvm::SmallPtrSet<const BasicBlock*, 8> seen;
  llvm::SmallVector<BasicBlock::const_iterator> waiting{std::next(commit.getIterator())};
  llvm::SmallVector<const BasicBlock*> blocks{commit.getParent()};
  while (!waiting.empty()) {
    auto at = waiting.pop_back_val();
    const BasicBlock* block = blocks.pop_back_val();
    while (at != block->end() && !IsCopy(*at) && !GroupsOfWait(*at)) ++at;
    if (at != block->end()) {
      if (IsCopy(*at)) return true;
      continue;
    }
    for (const BasicBlock* next : llvm::successors(block)) {
      if (!seen.insert(next).second) continue;
      waiting.push_back(next->begin());
      blocks.push_back(next);
    }
  }
  return false;
}

// "S_WAITCNT": vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt, which counts accesses to LDS, in 11:8.
void EmitWaitcnt(llvm::IRBuilder<>& b, unsigned copies, bool for_shared) {
  constexpr unsigned kAnyExports = 7 << 4, kAnyShared = 15 << 8;
  const unsigned shared = for_shared ? 0 : kAnyShared;
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::amdgcn_s_waitcnt,
                    b.getInt32((copies & 15) | (copies >> 4) << 14 | kAnyExports | shared));
}

void EmitWait(llvm::IRBuilder<>& b, const Architecture& arch, unsigned copies, bool is_single_wave) {
  auto wait = [&](llvm::Intrinsic::ID id, llvm::ConstantInt* operand) {
    b.CreateIntrinsic(b.getVoidTy(), id, operand);
  };
  // The reads of a wave alone end with no barrier; what it copies next may be to where it reads.
  if (arch.copies == DirectCopies::kPerLane) {
    wait(llvm::Intrinsic::amdgcn_s_wait_asynccnt, b.getInt16(copies));
    if (is_single_wave) wait(llvm::Intrinsic::amdgcn_s_wait_dscnt, b.getInt16(0));
    return;
  }
  EmitWaitcnt(b, copies, is_single_wave);
}

// Whether the instruction is a release fence of accesses to LDS alone, just before a barrier.
bool IsFenceOfBarrier(const Instruction& instruction) {
  auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction);
  if (!fence || fence->getOrdering() != llvm::AtomicOrdering::Release) return false;
  const llvm::MMRAMetadata spaces(*fence);
  auto* next = llvm::dyn_cast<llvm::IntrinsicInst>(fence->getNextNode());
  return fence->getContext().getSyncScopeName(fence->getSyncScopeID()) == "workgroup" &&
         spaces.hasTag("amdgpu-synchronize-as", "local") && !spaces.hasTag("amdgpu-synchronize-as", "global") && next &&
         next->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier;
}

void WaitForOwnAccesses(Function& function) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!IsFenceOfBarrier(instruction)) continue;
    llvm::IRBuilder<> b(&instruction);
    b.CreateFence(llvm::AtomicOrdering::Release, llvm::SyncScope::SingleThread);
    EmitWaitcnt(b, kAnyInFlight, /*for_shared=*/true);
    instruction.eraseFromParent();
  }
}

bool TouchesShared(const Instruction& instruction) {
  if (const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction))
    return pointer->getType()->getPointerAddressSpace() == kSharedSpace;
  if (!llvm::isa<llvm::CallBase, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return false;
  return llvm::any_of(instruction.operands(), [](const llvm::Use& use) {
    return use->getType()->isPointerTy() && use->getType()->getPointerAddressSpace() == kSharedSpace;
  });
}

void MarkScopes(Function& function) {
  llvm::MDBuilder metadata(function.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain("copies");
  llvm::MDNode* scope = llvm::MDNode::get(function.getContext(), metadata.createAnonymousAliasScope(domain, "copies"));
  auto add = [&](Instruction& instruction, unsigned kind) {
    instruction.setMetadata(kind, llvm::MDNode::concatenate(instruction.getMetadata(kind), scope));
  };
  for (Instruction& instruction : llvm::instructions(function)) {
    if (IsCopy(instruction)) {
      add(instruction, llvm::LLVMContext::MD_alias_scope);
    } else if (TouchesShared(instruction)) {
      add(instruction, llvm::LLVMContext::MD_noalias);
    }
  }
}

void PlaceWaits(Function& function, const Architecture& arch, bool is_single_wave) {
  llvm::SmallVector<CallInst*> waits, commits;
  bool has_copies = false;
  for (Instruction& instruction : llvm::instructions(function)) {
    has_copies |= IsCopy(instruction);
    if (GroupsOfWait(instruction)) waits.push_back(llvm::cast<CallInst>(&instruction));
    if (IsCommit(instruction)) commits.push_back(llvm::cast<CallInst>(&instruction));
  }
  llvm::SmallVector<unsigned> counts;
  for (CallInst* wait : waits) counts.push_back(CopiesBefore(function).Fewest(*wait, *GroupsOfWait(*wait)));
  for (CallInst* commit : commits) {
    llvm::IRBuilder<> b(commit);
    if (IsFollowedByCopies(*commit))
      b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::amdgcn_sched_barrier, b.getInt32(0));
  }
  for (auto [wait, copies] : llvm::zip(waits, counts)) {
    llvm::IRBuilder<> b(wait);
    if (copies != kAllFinish) EmitWait(b, arch, std::min(copies, kMostInFlight), is_single_wave);
  }
  for (llvm::ArrayRef<CallInst*> marks : {llvm::ArrayRef(waits), llvm::ArrayRef(commits)})
    for (CallInst* mark : marks) mark->eraseFromParent();
  if (!has_copies) return;
  MarkScopes(function);
  if (arch.copies != DirectCopies::kPerLane) WaitForOwnAccesses(function);
}

}  // namespace

bool IsCopyMark(llvm::StringRef name) { return name == kCommitCopies || name.starts_with(kWaitForCopies); }

void DescribeCopyMarks(llvm::Module& module) {
  // LLVM's "AMDGPU Attributes": what a function does not use.
  constexpr llvm::StringLiteral kUnused[] = {
      "cluster-id-x",    "cluster-id-y",   "cluster-id-z",  "completion-action",  "default-queue",
      "dispatch-id",     "dispatch-ptr",   "heap-ptr",      "flat-scratch-init",  "hostcall-ptr",
      "implicitarg-ptr", "lds-kernel-id",  "queue-ptr",     "multigrid-sync-arg", "workgroup-id-x",
      "workgroup-id-y",  "workgroup-id-z", "workitem-id-x", "workitem-id-y",      "workitem-id-z"};
  for (Function& function : module) {
    if (!function.isDeclaration() || !IsCopyMark(function.getName())) continue;
    for (llvm::StringRef name : kUnused) function.addFnAttr(("amdgpu-no-" + name).str());
    function.addFnAttr("amdgpu-agpr-alloc", "0");
  }
}

void PlaceCopyWaits(llvm::Module& module, const Architecture& arch, int num_warps) {
  for (Function& function : module)
    if (!function.isDeclaration()) PlaceWaits(function, arch, num_warps == 1);
  for (Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty() && IsCopyMark(function.getName())) function.eraseFromParent();
}

}  // namespace tritond::compiler::amd
