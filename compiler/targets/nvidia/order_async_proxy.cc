// SPDX-License-Identifier: Apache-2.0
// wgmma reads shared memory through another path ("proxy") than loads, stores and cp.async. What a thread has written
// reaches that path only behind a fence (PTX ISA, "Async proxy"), and other threads' wgmma only behind a barrier after
// the fence:
//
//   st.shared …                        st.shared …
//   barrier.sync                  ->   fence.proxy.async
//   wgmma …                            barrier.sync
//                                      wgmma …
//
// There is a barrier between each write and its wgmma (insert_barriers.cc), so a fence in front of every barrier of a
// kernel with wgmma is enough.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

bool IsWgmma(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && llvm::StringRef(assembly->getAsmString()).contains("wgmma.mma_async");
}

bool IsBarrier(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all;
}

}  // namespace

void OrderAsyncProxy(llvm::Module& module) {
  bool has_wgmma = llvm::any_of(
      module, [](llvm::Function& function) { return llvm::any_of(llvm::instructions(function), IsWgmma); });
  if (!has_wgmma) return;
  llvm::Function* fence =
      llvm::Intrinsic::getOrInsertDeclaration(&module, llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (IsBarrier(instruction)) llvm::CallInst::Create(fence, "", instruction.getIterator());
}

}  // namespace tritond::compiler::nvidia
