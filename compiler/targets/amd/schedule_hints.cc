// SPDX-License-Identifier: Apache-2.0
// What option schedule_hint asks of LLVM's schedulers ("User Guide for AMDGPU Backend", llvm.amdgcn.iglp.opt; function
// attribute amdgpu-sched-strategy). Hints move instructions, and change nothing that they compute.
//
//   attention                 loops with matrix products and exponentials: MFMA between exponentials
//   local-prefetch            loops with matrix products: MFMA between accesses to LDS
//   memory-bound-attention    the kernel: instruction-level parallelism before occupancy
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/own_options.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tritond::compiler::amd {
namespace {

constexpr char kNone[] = "none", kAttention[] = "attention", kLocalPrefetch[] = "local-prefetch",
               kMemoryBound[] = "memory-bound-attention";
// Operands of llvm.amdgcn.iglp.opt.
constexpr int kInterleaveLocal = 0, kInterleaveExponentials = 2;

std::vector<std::string> HintsOf(const OwnOptions& own) {
  return absl::StrSplit(absl::AsciiStrToLower(own.Text(kScheduleHint)), ',', absl::SkipEmpty());
}

bool CallsAny(const llvm::BasicBlock& block, llvm::function_ref<bool(llvm::StringRef)> is_one) {
  return llvm::any_of(block, [&](const llvm::Instruction& instruction) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && is_one(llvm::Intrinsic::getBaseName(call->getIntrinsicID()));
  });
}

bool HasProducts(const llvm::BasicBlock& block) {
  return CallsAny(block, [](llvm::StringRef name) { return name.starts_with("llvm.amdgcn.mfma."); });
}

bool HasExponentials(const llvm::BasicBlock& block) {
  return CallsAny(block, [](llvm::StringRef name) { return name == "llvm.exp2" || name == "llvm.amdgcn.exp2"; });
}

void MarkLoops(llvm::Function& kernel, int hint) {
  const llvm::DominatorTree dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  for (llvm::BasicBlock& block : kernel) {
    if (!loops.getLoopFor(&block) || !HasProducts(block)) continue;
    if (hint == kInterleaveExponentials && !HasExponentials(block)) continue;
    llvm::IRBuilder<> b(&block, block.getFirstInsertionPt());
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_iglp_opt, {}, {b.getInt32(hint)});
  }
}

}  // namespace

absl::Status CheckScheduleHint(const OwnOptions& own) {
  for (const std::string& hint : HintsOf(own)) {
    if (hint == kNone || hint == kAttention || hint == kLocalPrefetch || hint == kMemoryBound) continue;
    return absl::InvalidArgumentError(absl::StrCat("option ", kScheduleHint, " is ", kNone, ", ", kAttention, ", ",
                                                   kMemoryBound, " or ", kLocalPrefetch,
                                                   ", or some of them with commas between, not ", hint));
  }
  return absl::OkStatus();
}

void ApplyScheduleHints(llvm::Module& module, const KernelOptions& options) {
  for (const std::string& hint : HintsOf(options.own)) {
    for (llvm::Function& function : module) {
      if (function.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL || function.isDeclaration()) continue;
      if (hint == kMemoryBound) function.addFnAttr(kScheduleAttr, kParallelSchedule);
      if (hint == kAttention) MarkLoops(function, kInterleaveExponentials);
      if (hint == kLocalPrefetch) MarkLoops(function, kInterleaveLocal);
    }
  }
}

}  // namespace tritond::compiler::amd
