// SPDX-License-Identifier: Apache-2.0
// Lowering names shared memory by a symbol; here it is a pointer that a call gives, once a function.
//
//   getelementptr i8, ptr addrspace(3) @global_smem, i32 %x
//
//   %shared = addrspacecast (call ptr @tritond.shared_memory()) to ptr addrspace(3)    ; in the entry block
//   getelementptr i8, ptr addrspace(3) %shared, i32 %x
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ReplaceConstant.h"

namespace tritond::compiler::host {

void BindSharedMemory(llvm::Module& module) {
  llvm::GlobalVariable* symbol = module.getGlobalVariable(kSharedMemorySymbol, /*AllowInternal=*/true);
  if (!symbol) return;
  // The symbol inside of constant expressions has uses that are no instructions.
  llvm::convertUsersOfConstantsToInstructions(symbol);
  llvm::Function* get = symbol->use_empty() ? nullptr : DeclareRuntime(module, RuntimeFunction::kSharedMemory);
  llvm::DenseMap<llvm::Function*, llvm::Value*> pointers;
  for (llvm::Use& use : llvm::make_early_inc_range(symbol->uses())) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    llvm::Value*& pointer = pointers[user->getFunction()];
    if (!pointer) {
      llvm::BasicBlock& entry = user->getFunction()->getEntryBlock();
      llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
      b.SetCurrentDebugLocation(user->getDebugLoc());
      pointer = b.CreateAddrSpaceCast(b.CreateCall(get), symbol->getType());
    }
    use.set(pointer);
  }
  symbol->eraseFromParent();
}

}  // namespace tritond::compiler::host
