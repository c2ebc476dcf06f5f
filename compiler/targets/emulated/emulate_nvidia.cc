// SPDX-License-Identifier: Apache-2.0
// What is NVIDIA's in a module, step by step:
//
// - kernels and their attributes
// - intrinsics
// - inline PTX
// - the functions that the CUDA driver offers
// - conversions that LLVM leaves undefined where the device clamps
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/emulated/any_device.h"
#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::emulated {
namespace {

// "-cpu" and the like are another processor's; a kernel's own attributes say how it is launched.
void DropAttributes(llvm::Function& function) {
  llvm::AttributeMask mask;
  for (llvm::Attribute attribute : function.getAttributes().getFnAttrs()) {
    if (!attribute.isStringAttribute()) continue;
    const llvm::StringRef name = attribute.getKindAsString();
    if (name.starts_with("nvvm.") || name.starts_with("target-") || name.starts_with("tune-")) mask.addAttribute(name);
  }
  function.removeFnAttrs(mask);
  function.setCallingConv(llvm::CallingConv::C);
}

// The directive .maxnreg: setmaxnreg changes what it says.
void TellRegisters(llvm::Function& kernel, int registers) {
  llvm::BasicBlock& entry = kernel.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  EmitExecute(b, llvm::ConstantPointerNull::get(b.getPtrTy()), "ptx:maxnreg 1", {b.getInt64(registers)}, 0);
}

// The threads of a program: what the kernel says, else the option.
absl::StatusOr<int> MarkKernels(llvm::Module& module, const KernelOptions& options) {
  int threads = 32 * options.num_warps;
  for (llvm::Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
      function.addFnAttr(kKernelAttr);
      int said = 0, registers = 0;
      if (!function.getFnAttribute("nvvm.maxnreg").getValueAsString().consumeInteger(10, registers) && registers > 0)
        TellRegisters(function, registers);
      if (!function.getFnAttribute("nvvm.reqntid").getValueAsString().consumeInteger(10, said) && said > 0)
        threads = said;
    }
    DropAttributes(function);
  }
  return threads;
}

// The constraints of inline PTX with as many outputs and inputs as an intrinsic of this type.
std::string ConstraintsFor(llvm::FunctionType* type) {
  auto* fields = llvm::dyn_cast<llvm::StructType>(type->getReturnType());
  const unsigned outputs = type->getReturnType()->isVoidTy() ? 0 : fields ? fields->getNumElements() : 1;
  std::string text;
  for (unsigned i = 0; i < outputs; ++i) absl::StrAppend(&text, text.empty() ? "" : ",", "=r");
  for (unsigned i = 0; i < type->getNumParams(); ++i) absl::StrAppend(&text, text.empty() ? "" : ",", "r");
  return text;
}

// Calls of the functions that pieces of PTX have become, which are shared by all calls of the same text and type.
class PtxCalls final {
 public:
  PtxCalls(llvm::Module& module, int threads) : module_(module), threads_(threads) {}

  absl::Status Replace(llvm::CallInst& call, const std::string& text, const std::string& constraints) {
    llvm::FunctionType* type = call.getFunctionType();
    llvm::Function*& function = functions_[{text, constraints, type}];
    if (!function) {
      PtxCall ptx{text, type, llvm::InlineAsm::ParseConstraints(constraints), threads_};
      for (const llvm::InlineAsm::ConstraintInfo& info : ptx.constraints)
        if (info.isIndirect) return absl::InvalidArgumentError("the emulator has no inline PTX with memory operands");
      auto defined = DefinePtxFunction(module_, ptx);
      if (!defined.ok()) return defined.status();
      function = *defined;
    }
    llvm::IRBuilder<> b(&call);
    llvm::SmallVector<llvm::Value*> arguments = {llvm::ConstantPointerNull::get(b.getPtrTy())};
    arguments.append(call.arg_begin(), call.arg_end());
    llvm::CallInst* replaced = b.CreateCall(function, arguments);
    replaced->setDebugLoc(call.getDebugLoc());
    if (!call.use_empty()) call.replaceAllUsesWith(FromReturnedBits(b, replaced, call.getType()));
    call.eraseFromParent();
    return absl::OkStatus();
  }

 private:
  llvm::Module& module_;
  const int threads_;
  std::map<std::tuple<std::string, std::string, llvm::FunctionType*>, llvm::Function*> functions_;
};

// void __assertfail(ptr message, ptr file, i32 line, ptr function, i64 size): the place is the call's own.
void ReplaceAssertion(llvm::CallInst& call) {
  llvm::IRBuilder<> b(&call);
  llvm::Value* nowhere = llvm::ConstantPointerNull::get(b.getPtrTy());
  b.CreateCall(host::DeclareRuntime(*call.getModule(), host::RuntimeFunction::kFail), {nowhere, call.getArgOperand(0)});
  call.eraseFromParent();
}

// i32 vprintf(ptr format, ptr arguments)
absl::Status ReplacePrint(llvm::CallInst& call, PtxCalls& calls) {
  return calls.Replace(call, "vprintf $0, $1, $2;", "=r,r,r");
}

// i32 __nvvm_reflect(ptr name): what the module's flags say of "__CUDA_FTZ", and zero for all else.
absl::Status ReplaceReflection(llvm::CallInst& call) {
  auto* name = llvm::dyn_cast<llvm::GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
  auto* text =
      name && name->hasInitializer() ? llvm::dyn_cast<llvm::ConstantDataArray>(name->getInitializer()) : nullptr;
  if (!text || !text->isCString()) return absl::InvalidArgumentError("__nvvm_reflect of no constant name");
  auto* flag = llvm::mdconst::extract_or_null<llvm::ConstantInt>(call.getModule()->getModuleFlag("nvvm-reflect-ftz"));
  const uint64_t value = flag && text->getAsCString() == "__CUDA_FTZ" ? flag->getZExtValue() : 0;
  call.replaceAllUsesWith(llvm::ConstantInt::get(call.getType(), value));
  call.eraseFromParent();
  return absl::OkStatus();
}

// Barrier 0 of all threads, by a constant.
bool IsBarrierOfAll(const llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name != "llvm.nvvm.barrier.cta.sync.aligned.all" && name != "llvm.nvvm.barrier.cta.sync.all") return false;
  auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  return number && number->isZero();
}

absl::Status ReplaceCall(llvm::CallInst& call, PtxCalls& calls) {
  if (auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return calls.Replace(call, assembly->getAsmString().str(), assembly->getConstraintString().str());
  llvm::Function* callee = call.getCalledFunction();
  if (!callee) return absl::InvalidArgumentError("the emulator has no calls by address");
  call.setCallingConv(callee->getCallingConv());
  if (callee->getName() == "__nvvm_reflect" || callee->getName() == "llvm.nvvm.reflect") return ReplaceReflection(call);
  const llvm::StringRef name = callee->getName();
  if (name == "__assertfail") {
    ReplaceAssertion(call);
    return absl::OkStatus();
  }
  if (name == "llvm.trap") {
    ReplaceTrap(call);
    return absl::OkStatus();
  }
  if (name == "vprintf") return ReplacePrint(call, calls);
  if (IsBarrierOfAll(call)) return calls.Replace(call, "bar.sync 0;", ConstraintsFor(call.getFunctionType()));
  const std::string text = PtxOfIntrinsic(name);
  if (text.empty() && !name.starts_with("llvm.nvvm.")) return absl::OkStatus();
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat("the emulator has no intrinsic ", name.str()));
  return calls.Replace(call, text, ConstraintsFor(call.getFunctionType()));
}

}  // namespace

absl::Status EmulateNvidia(llvm::Module& module, const KernelOptions& options, const TargetInfo&) {
  if (absl::Status status = CheckGlobals(module); !status.ok()) return status;
  absl::StatusOr<int> threads = MarkKernels(module, options);
  if (!threads.ok()) return threads.status();
  PtxCalls calls(module, *threads);
  llvm::SmallVector<llvm::CallInst*> all;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) all.push_back(call);
      if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst>(instruction))
        return absl::InvalidArgumentError("the emulator has no calls that branch");
    }
  }
  for (llvm::CallInst* call : all) {
    if (absl::Status status = ReplaceCall(*call, calls); !status.ok()) return status;
  }
  // Integers of 8 bits go by those of 16.
  ClampConversions(module, 16);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
