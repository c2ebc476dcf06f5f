// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/memory_instructions.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kGlobalAddressSpace = 1, kSharedAddressSpace = 3;

bool IsStore(const llvm::Instruction& instruction, unsigned address_space, llvm::StringRef text) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getPointerAddressSpace() == address_space;
  return AssemblyOf(instruction).contains(text);
}

}  // namespace

llvm::StringRef AssemblyOf(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly ? assembly->getAsmString() : llvm::StringRef();
}

bool IsGlobalLoad(const llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() == kGlobalAddressSpace;
  return AssemblyOf(instruction).contains("ld.global");
}

bool IsGlobalStore(const llvm::Instruction& instruction) {
  return IsStore(instruction, kGlobalAddressSpace, "st.global");
}

bool IsSharedStore(const llvm::Instruction& instruction) {
  return IsStore(instruction, kSharedAddressSpace, "st.shared");
}

bool IsBlockBarrier(const llvm::Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier");
}

}  // namespace tritond::compiler::nvidia
