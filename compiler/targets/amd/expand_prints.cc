// SPDX-License-Identifier: Apache-2.0
// A print is a message to the host that ockl puts together: the format, then the arguments, seven 64-bit words a time.
//
//   call @tritond.print(ptr @format, i32 %x, double %y)
//   ->
//   %begun = call i64 @__ockl_printf_begin(i64 0)
//   %named = call i64 @__ockl_printf_append_string_n(i64 %begun, ptr @format', i64 LENGTH, i32 0)
//   call i64 @__ockl_printf_append_args(i64 %named, i32 2, i64 %x', i64 %y', i64 0, …, i32 1)      the last word: done
#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/codegen.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::amd {
namespace {

constexpr unsigned kConstantSpace = 4;
constexpr size_t kArgumentsAtOnce = 7;

class PrintExpander final {
 public:
  PrintExpander(llvm::CallInst* call, llvm::StringRef format) : call_(call), format_(format), b_(call) {}

  void Expand() {
    llvm::SmallVector<llvm::Value*> words;
    for (llvm::Value* argument : llvm::drop_begin(call_->args())) words.push_back(Word(argument));
    llvm::Value* message = Call("__ockl_printf_begin", {b_.getInt64(0)});
    // The final zero is a part of the format.
    message = Call("__ockl_printf_append_string_n",
                   {message, FormatPointer(), b_.getInt64(format_.size() + 1), b_.getInt32(words.empty())});
    for (size_t first = 0; first < words.size(); first += kArgumentsAtOnce) {
      const size_t count = std::min(kArgumentsAtOnce, words.size() - first);
      llvm::SmallVector<llvm::Value*> args = {message, b_.getInt32(count)};
      for (size_t i = 0; i < kArgumentsAtOnce; ++i) args.push_back(i < count ? words[first + i] : b_.getInt64(0));
      args.push_back(b_.getInt32(first + count == words.size()));
      message = Call("__ockl_printf_append_args", args);
    }
    call_->eraseFromParent();
  }

 private:
  llvm::Value* Call(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> args) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* arg : args) types.push_back(arg->getType());
    auto* type = llvm::FunctionType::get(b_.getInt64Ty(), types, /*isVarArg=*/false);
    return b_.CreateCall(call_->getModule()->getOrInsertFunction(name, type), args);
  }

  llvm::Value* FormatPointer() {
    llvm::Constant* text = llvm::ConstantDataArray::getString(call_->getContext(), format_);
    auto* global = new llvm::GlobalVariable(*call_->getModule(), text->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, text, "format", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, kConstantSpace);
    return b_.CreateAddrSpaceCast(global, b_.getPtrTy());
  }

  llvm::Value* Word(llvm::Value* argument) {
    llvm::Type* type = argument->getType();
    if (type->isPointerTy()) return b_.CreatePtrToInt(argument, b_.getInt64Ty());
    if (type->isDoubleTy()) return b_.CreateBitCast(argument, b_.getInt64Ty());
    return b_.CreateSExt(argument, b_.getInt64Ty());
  }

  llvm::CallInst* call_;
  const llvm::StringRef format_;
  llvm::IRBuilder<> b_;
};

// What the optimiser concluded before there was a conversation with the host, which needs more of a launch.
void ForgetConclusions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::AttributeMask conclusions;
    for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs())
      if (attribute.isStringAttribute() && attribute.getKindAsString().starts_with("amdgpu-no-"))
        conclusions.addAttribute(attribute.getKindAsString());
    function.removeFnAttrs(conclusions);
  }
}

}  // namespace

absl::StatusOr<bool> ExpandPrints(llvm::Module& module) {
  llvm::Function* print = module.getFunction(kPrintFunction);
  if (!print) return false;
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::User* user : print->users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != print)
      return absl::InvalidArgumentError(absl::StrCat(kPrintFunction, " may only be called"));
    calls.push_back(call);
  }
  for (llvm::CallInst* call : calls) {
    llvm::StringRef format;
    if (!llvm::getConstantStringInfo(call->getArgOperand(0), format))
      return absl::InvalidArgumentError("a device print has a format that is no constant");
    PrintExpander(call, format).Expand();
  }
  print->eraseFromParent();
  // The formats of before, in an address space that has no variables.
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals()))
    if (global.hasLocalLinkage() && global.use_empty()) global.eraseFromParent();
  if (!calls.empty()) ForgetConclusions(module);
  return !calls.empty();
}

}  // namespace tritond::compiler::amd
