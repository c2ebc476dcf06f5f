// SPDX-License-Identifier: Apache-2.0
// The run-time functions get bodies, after the optimiser has used what their declarations say:
//
//   declare i32 @tritond.thread_id()
//
//   @tritond_host_runtime = global ptr null
//   define internal i32 @tritond.thread_id() {
//     %table = load ptr, ptr @tritond_host_runtime
//     %slot = getelementptr i8, ptr %table, i64 8
//     %function = load ptr, ptr %slot
//     %result = musttail call i32 %function()
//     ret i32 %result
//   }
//
// which is three x86 instructions, and forwards variable arguments too.
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::host {
namespace {

// The table starts with its version, padded to the size of a pointer.
constexpr int kSlotBytes = 8;

llvm::GlobalVariable* AddExportedVariable(llvm::Module& module, llvm::StringRef name, llvm::Constant* value,
                                          bool is_constant) {
  auto* variable =
      new llvm::GlobalVariable(module, value->getType(), is_constant, llvm::GlobalValue::ExternalLinkage, value, name);
  // The object's own, whatever else the process has loaded.
  variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  variable->setDSOLocal(true);
  return variable;
}

void GiveBody(llvm::Function& function, RuntimeFunction which, llvm::GlobalVariable* runtime) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  // A declaration's; the body has no place in any source.
  function.setSubprogram(nullptr);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(function.getContext(), "", &function));
  llvm::Value* table = b.CreateLoad(b.getPtrTy(), runtime);
  llvm::Value* slot = b.CreateConstGEP1_64(b.getInt8Ty(), table, static_cast<int>(which) * kSlotBytes);
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
  llvm::CallInst* call = b.CreateCall(function.getFunctionType(), b.CreateLoad(b.getPtrTy(), slot), arguments);
  call->setTailCallKind(llvm::CallInst::TCK_MustTail);
  if (function.getReturnType()->isVoidTy()) {
    b.CreateRetVoid();
  } else {
    b.CreateRet(call);
  }
}

}  // namespace

void BindRuntime(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* version = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), kAbiVersion);
  AddExportedVariable(module, kAbiVersionSymbol, version, /*is_constant=*/true);
  auto* null = llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  llvm::GlobalVariable* runtime = AddExportedVariable(module, kRuntimeSymbol, null, /*is_constant=*/false);
  for (RuntimeFunction which : kRuntimeFunctions) {
    llvm::Function* function = module.getFunction(NameOf(which));
    if (!function) continue;
    if (function->use_empty()) {
      function->eraseFromParent();
    } else if (function->isDeclaration()) {
      // What they promised to callers is not what a body may promise: it reads the table.
      function->removeFnAttr(llvm::Attribute::Memory);
      function->removeFnAttr(llvm::Attribute::NoReturn);
      GiveBody(*function, which, runtime);
    }
  }
}

}  // namespace tritond::compiler::host
