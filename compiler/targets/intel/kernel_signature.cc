// SPDX-License-Identifier: Apache-2.0
// The parameters that a launcher for Intel GPUs sets: a kernel's own, the scratch pointers, and a pointer to its shared
// memory. Kernels without shared memory lack the last one. For it a launch gives a size instead of a value. bf16
// travels as an integer.
//
//   @global_smem = external addrspace(3) global [0 x i8]
//   define void @kernel(ptr addrspace(1) %p, bfloat %x)         uses @global_smem
//   ->
//   define void @kernel(ptr addrspace(1) %p, i16 %x.bits, ptr addrspace(3) %smem)
//     %x = bitcast i16 %x.bits to bfloat
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/intel/codegen.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ReplaceConstant.h"

namespace tritond::compiler::intel {
namespace {

constexpr unsigned kSharedSpace = 3;

// Whether the launch passes shared memory, by the constant that says so, which goes; without one, by its use.
bool TakesShared(llvm::Module& module, const llvm::GlobalVariable* shared) {
  llvm::GlobalVariable* bytes = module.getGlobalVariable(kSharedBytes, /*AllowInternal=*/true);
  if (bytes) bytes->eraseFromParent();
  return bytes || (shared && !shared->use_empty());
}

llvm::FunctionType* NewType(const llvm::Function& kernel, bool takes_shared) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Argument& argument : kernel.args())
    types.push_back(argument.getType()->isBFloatTy() ? llvm::Type::getInt16Ty(context) : argument.getType());
  if (takes_shared) types.push_back(llvm::PointerType::get(context, kSharedSpace));
  return llvm::FunctionType::get(kernel.getReturnType(), types, /*isVarArg=*/false);
}

void MoveArguments(llvm::Function& from, llvm::Function& to) {
  llvm::IRBuilder<> b(&*to.getEntryBlock().getFirstInsertionPt());
  for (llvm::Argument& argument : from.args()) {
    llvm::Argument* moved = to.getArg(argument.getArgNo());
    moved->takeName(&argument);
    llvm::Value* value = moved;
    if (moved->getType() != argument.getType()) value = b.CreateBitCast(moved, argument.getType());
    argument.replaceAllUsesWith(value);
  }
}

}  // namespace

absl::StatusOr<llvm::Function*> SetKernelSignature(llvm::Function* kernel) {
  llvm::Module& module = *kernel->getParent();
  llvm::GlobalVariable* shared = module.getGlobalVariable(kSharedMemorySymbol, /*AllowInternal=*/true);
  const bool takes_shared = TakesShared(module, shared);
  llvm::Function* replacement =
      llvm::Function::Create(NewType(*kernel, takes_shared), llvm::GlobalValue::ExternalLinkage, "", module);
  replacement->copyAttributesFrom(kernel);
  replacement->setLinkage(llvm::GlobalValue::ExternalLinkage);
  replacement->setSubprogram(kernel->getSubprogram());
  kernel->setSubprogram(nullptr);
  replacement->takeName(kernel);
  replacement->splice(replacement->begin(), kernel);
  MoveArguments(*kernel, *replacement);
  if (!kernel->use_empty()) return absl::InvalidArgumentError("the kernel is called by a function");
  kernel->eraseFromParent();
  if (!shared) return replacement;
  llvm::convertUsersOfConstantsToInstructions({shared});
  for (llvm::User* user : shared->users()) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (!instruction || instruction->getFunction() != replacement)
      return absl::InvalidArgumentError(
          absl::StrCat("shared memory (", kSharedMemorySymbol.str(), ") is used outside of the kernel"));
  }
  if (takes_shared) {
    llvm::Argument* argument = replacement->getArg(replacement->arg_size() - 1);
    argument->setName("smem");
    shared->replaceAllUsesWith(argument);
  }
  shared->eraseFromParent();
  return replacement;
}

}  // namespace tritond::compiler::intel
