// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/any_device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"

namespace tritond::compiler::emulated {
namespace {

constexpr unsigned kSharedSpace = 3;

}  // namespace

absl::Status CheckGlobals(llvm::Module& module) {
  if (!module.getModuleInlineAsm().empty())
    return absl::InvalidArgumentError("the emulator takes no assembly outside of functions");
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace && variable.getName() != kSharedMemorySymbol)
      return absl::InvalidArgumentError(absl::StrCat("the emulator has no variable in shared memory but ",
                                                     kSharedMemorySymbol.str(), ": ", variable.getName().str()));
  return absl::OkStatus();
}

void ReplaceTrap(llvm::CallInst& call) {
  llvm::IRBuilder<> b(&call);
  llvm::Value* nowhere = llvm::ConstantPointerNull::get(b.getPtrTy());
  b.CreateCall(host::DeclareRuntime(*call.getModule(), host::RuntimeFunction::kFail),
               {nowhere, b.CreateGlobalString("the kernel has stopped itself: trap")});
  call.eraseFromParent();
}

void ClampConversions(llvm::Module& module, unsigned least_bits) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      const bool is_signed = llvm::isa<llvm::FPToSIInst>(instruction);
      if (!is_signed && !llvm::isa<llvm::FPToUIInst>(instruction)) continue;
      llvm::IRBuilder<> b(&instruction);
      llvm::Type* type = instruction.getType();
      llvm::Type* wide = type->getScalarSizeInBits() < least_bits ? type->getWithNewBitWidth(least_bits) : type;
      llvm::Value* value = b.CreateIntrinsic(is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                             {wide, instruction.getOperand(0)->getType()}, {instruction.getOperand(0)});
      instruction.replaceAllUsesWith(b.CreateTrunc(value, type));
      instruction.eraseFromParent();
    }
  }
}

std::vector<llvm::Value*> EmitExecute(llvm::IRBuilder<>& b, llvm::Value* site, const std::string& name,
                                      llvm::ArrayRef<llvm::Value*> in, size_t results) {
  llvm::Function& function = *b.GetInsertBlock()->getParent();
  llvm::Module& module = *function.getParent();
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> slots(&entry, entry.begin());
  llvm::Type* i64 = b.getInt64Ty();
  llvm::Value* inputs = slots.CreateAlloca(i64, slots.getInt32(std::max<size_t>(in.size(), 1)));
  llvm::Value* outputs = slots.CreateAlloca(i64, slots.getInt32(std::max<size_t>(results, 1)));
  for (size_t i = 0; i < in.size(); ++i) b.CreateStore(in[i], b.CreateConstGEP1_64(i64, inputs, i));
  // Dots become slashes: the assembler refuses text that could spell some directives, ".rep" among them.
  const std::string spelled = absl::StrReplaceAll(name, {{".", "/"}});
  const std::string global = "tritond.name." + spelled;
  llvm::GlobalVariable* text = module.getGlobalVariable(global, /*AllowInternal=*/true);
  if (!text) {
    llvm::Constant* value = llvm::ConstantDataArray::getString(module.getContext(), spelled);
    text = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, global);
  }
  b.CreateCall(host::DeclareRuntime(module, host::RuntimeFunction::kExecute), {site, text, inputs, outputs});
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < results; ++i) values.push_back(b.CreateLoad(i64, b.CreateConstGEP1_64(i64, outputs, i)));
  return values;
}

}  // namespace tritond::compiler::emulated
