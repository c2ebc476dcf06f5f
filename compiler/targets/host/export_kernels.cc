// SPDX-License-Identifier: Apache-2.0
// What the object exports of a kernel is a function that takes the addresses of its parameters:
//
//   define void @k(ptr addrspace(1) %x, i32 %n) "tritond.kernel"
//
//   define internal void @k.body(ptr addrspace(1) %x, i32 %n)
//   define void @k(ptr %parameters) {
//     %p0 = load ptr, ptr %parameters             ; the address of x
//     %x = load ptr addrspace(1), ptr %p0
//     …
//     call void @k.body(ptr addrspace(1) %x, i32 %n)
//
// All other functions are internal, and named so that none passes for one of the C library's, which LLVM would call.
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/host/codegen.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace tritond::compiler::host {
namespace {

// An i1 lies in memory as a byte. Of what is passed by value, the function takes the address.
llvm::Value* LoadParameter(llvm::IRBuilder<>& b, llvm::Value* parameters, llvm::Argument& argument) {
  llvm::Value* slot = b.CreateConstGEP1_32(b.getPtrTy(), parameters, argument.getArgNo());
  llvm::Value* address = b.CreateLoad(b.getPtrTy(), slot);
  if (argument.hasByValAttr()) {
    argument.removeAttr(llvm::Attribute::ByVal);
    return address;
  }
  if (!argument.getType()->isIntegerTy(1)) return b.CreateLoad(argument.getType(), address);
  return b.CreateIsNotNull(b.CreateLoad(b.getInt8Ty(), address));
}

void Export(llvm::Function& body, const std::string& name) {
  llvm::LLVMContext& context = body.getContext();
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, /*isVarArg=*/false);
  auto* kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, body.getParent());
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", kernel));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : body.args()) arguments.push_back(LoadParameter(b, kernel->getArg(0), argument));
  b.CreateCall(&body, arguments);
  b.CreateRetVoid();
}

}  // namespace

absl::Status ExportKernels(llvm::Module& module) {
  const llvm::TargetLibraryInfoImpl library{llvm::Triple(kTriple)};
  llvm::SmallVector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.hasFnAttribute(kKernelAttr)) kernels.push_back(&function);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (!function.hasFnAttribute(kKernelAttr) && !function.getName().starts_with("tritond.")) {
      function.setName(function.getName() + ".device");
    }
  }
  if (kernels.empty()) return absl::InvalidArgumentError("the module has no kernel");
  for (llvm::Function* kernel : kernels) {
    const std::string name = kernel->getName().str();
    llvm::LibFunc known;
    if (library.getLibFunc(name, known) || llvm::StringRef(name).starts_with("tritond_host_")) {
      return absl::InvalidArgumentError(absl::StrCat("a kernel for the host cannot be called '", name,
                                                     "': the C library or its device uses that name"));
    }
    kernel->removeFnAttr(kKernelAttr);
    kernel->setName(name + ".body");
    Export(*kernel, name);
  }
  return absl::OkStatus();
}

}  // namespace tritond::compiler::host
