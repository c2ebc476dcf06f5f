// SPDX-License-Identifier: Apache-2.0
// The OpenCL parts of a module, step by step: kernels and their calling convention, the parameter for shared memory,
// and calls of functions. Functions are known by their plain names:
//
//   call spir_func i64 @_Z12get_local_idj(i32 0)               zext of @tritond.thread_id()
//   call spir_func i32 @_Z21sub_group_shuffle_xorjj(%x, 8)  -> tritond.execute of "spirv:sub_group_shuffle_xor …"
//   call spir_func float @_Z3erff(float %x)                    call float @erff(float %x)
//
// Address spaces stay: they are one where the code runs.
#include <functional>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "compiler/targets/emulated/any_device.h"
#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/emulated/opencl_functions.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/Constants.h"

namespace tritond::compiler::emulated {
namespace {

using host::RuntimeFunction;

constexpr unsigned kSharedSpace = 3;
// "SPIR-V Specification", 3.27 "Scope" and 3.25 "Memory Semantics".
constexpr uint64_t kWorkgroupScope = 2, kSubgroupScope = 3;
constexpr uint64_t kAcquireRelease = 0x8, kSequentiallyConsistent = 0x10, kWorkgroupMemory = 0x100;

// Launches of the host device pass no pointer to shared memory: it is the symbol again.
llvm::Function* WithoutSharedParameter(llvm::Function* kernel) {
  if (kernel->arg_empty()) return kernel;
  llvm::Argument* last = kernel->getArg(kernel->arg_size() - 1);
  auto* type = llvm::dyn_cast<llvm::PointerType>(last->getType());
  if (!type || type->getAddressSpace() != kSharedSpace) return kernel;
  llvm::Module& module = *kernel->getParent();
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* symbol =
      new llvm::GlobalVariable(module, bytes, false, llvm::GlobalValue::ExternalLinkage, nullptr, kSharedMemorySymbol,
                               nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  symbol->setAlignment(llvm::Align(16));
  last->replaceAllUsesWith(symbol);
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Argument& argument : kernel->args())
    if (&argument != last) types.push_back(argument.getType());
  auto* replacement = llvm::Function::Create(llvm::FunctionType::get(kernel->getReturnType(), types, false),
                                             kernel->getLinkage(), "", module);
  replacement->takeName(kernel);
  replacement->setSubprogram(kernel->getSubprogram());
  kernel->setSubprogram(nullptr);
  replacement->splice(replacement->begin(), kernel);
  for (llvm::Argument& argument : replacement->args()) {
    argument.takeName(kernel->getArg(argument.getArgNo()));
    kernel->getArg(argument.getArgNo())->replaceAllUsesWith(&argument);
  }
  kernel->eraseFromParent();
  return replacement;
}

void MarkKernels(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL && !function.isDeclaration())
      kernels.push_back(&function);
    function.setCallingConv(llvm::CallingConv::C);
  }
  for (llvm::Function* kernel : kernels) WithoutSharedParameter(kernel)->addFnAttr(kKernelAttr);
}

class Emulation final {
 public:
  Emulation(llvm::Module& module, const TargetInfo& device)
      : module_(module), calls_(module, device.arch.get<std::string>(), resources_, "spirv") {}

  absl::Status Run() {
    llvm::SmallVector<llvm::CallInst*> calls;
    for (llvm::Function& function : module_) {
      if (function.isDeclaration()) continue;
      for (llvm::BasicBlock* block : BlocksInOrder(function)) {
        for (llvm::Instruction& instruction : *block) {
          if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst>(instruction))
            return absl::InvalidArgumentError("the emulator has no calls that branch");
          if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
        }
      }
    }
    unsigned order = 0;
    for (llvm::CallInst* call : calls)
      if (absl::Status status = Replace(*call, ++order); !status.ok()) return status;
    return absl::OkStatus();
  }

 private:
  absl::Status Replace(llvm::CallInst& call, unsigned order) {
    llvm::Function* callee = call.getCalledFunction();
    if (!callee) return absl::InvalidArgumentError("the emulator has no calls by address");
    call.setCallingConv(llvm::CallingConv::C);
    if (callee->getIntrinsicID() == llvm::Intrinsic::trap) {
      ReplaceTrap(call);
      return absl::OkStatus();
    }
    if (callee->isIntrinsic() || !callee->isDeclaration()) return absl::OkStatus();
    llvm::IRBuilder<> b(&call);
    const std::string name = PlainName(callee->getName());
    switch (OpenClUseOf(name)) {
      case OpenClUse::kUnknown:
        return absl::InvalidArgumentError(
            absl::StrCat("the emulator has no function ", std::string(callee->getName())));
      case OpenClUse::kLocalId:
        return ReplaceIndex(call, [&](uint64_t axis) -> llvm::Value* {
          if (axis == 0) return Runtime(b, RuntimeFunction::kThreadId, {});
          return b.getInt32(0);
        });
      case OpenClUse::kGroupId:
        return ReplaceIndex(call, [&](uint64_t axis) -> llvm::Value* {
          return Runtime(b, RuntimeFunction::kProgramId, {b.getInt32(axis)});
        });
      case OpenClUse::kGroups:
        return ReplaceIndex(call, [&](uint64_t axis) -> llvm::Value* {
          return Runtime(b, RuntimeFunction::kNumPrograms, {b.getInt32(axis)});
        });
      case OpenClUse::kBarrier:
        return ReplaceBarrier(call);
      case OpenClUse::kRunTogether:
        return calls_.Replace(call, name, order);
      case OpenClUse::kReadBlock:
        return ReplaceBlockRead(call, name, order);
      case OpenClUse::kPrint:
        return ReplacePrint(call);
      case OpenClUse::kToBf16:
        return Become(call, b.CreateBitCast(b.CreateFPTrunc(call.getArgOperand(0), b.getBFloatTy()), call.getType()));
      case OpenClUse::kMath:
        return Become(call, EmitOpenClMath(b, call, name));
    }
    return absl::OkStatus();
  }

  static absl::Status Become(llvm::CallInst& call, llvm::Value* value) {
    if (auto* made = llvm::dyn_cast_or_null<llvm::Instruction>(value)) made->setDebugLoc(call.getDebugLoc());
    if (value) call.replaceAllUsesWith(value);
    call.eraseFromParent();
    return absl::OkStatus();
  }

  llvm::CallInst* Runtime(llvm::IRBuilder<>& b, RuntimeFunction function, llvm::ArrayRef<llvm::Value*> arguments) {
    return b.CreateCall(host::DeclareRuntime(module_, function), arguments);
  }

  static absl::Status ReplaceIndex(llvm::CallInst& call, const std::function<llvm::Value*(uint64_t axis)>& emit) {
    auto* axis = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!axis || axis->getZExtValue() > 2)
      return absl::InvalidArgumentError("the emulator has indices of the axes 0, 1 and 2 alone");
    llvm::IRBuilder<> b(&call);
    return Become(call, b.CreateZExt(emit(axis->getZExtValue()), call.getType()));
  }

  absl::Status ReplaceBarrier(llvm::CallInst& call) {
    auto* scope = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    const uint64_t value = scope ? scope->getZExtValue() : 0;
    if (value != kWorkgroupScope && value != kSubgroupScope)
      return absl::InvalidArgumentError("the emulator has barriers of work-groups and of sub-groups alone");
    llvm::IRBuilder<> b(&call);
    // One that orders nothing may as well not hold other sub-groups up: what they access then shows.
    const bool orders = value == kWorkgroupScope && OrdersShared(call);
    Runtime(b, orders ? RuntimeFunction::kBarrier : RuntimeFunction::kWarpBarrier,
            {llvm::ConstantPointerNull::get(b.getPtrTy())});
    return Become(call, nullptr);
  }

  // Whether the barrier's memory scope and semantics order a work-group's accesses to shared memory.
  static bool OrdersShared(const llvm::CallInst& barrier) {
    auto* scope = llvm::dyn_cast<llvm::ConstantInt>(barrier.getArgOperand(1));
    auto* semantics = llvm::dyn_cast<llvm::ConstantInt>(barrier.getArgOperand(2));
    if (!scope || !semantics || scope->getZExtValue() > kWorkgroupScope) return false;
    const uint64_t bits = semantics->getZExtValue();
    return (bits & (kAcquireRelease | kSequentiallyConsistent)) != 0 && (bits & kWorkgroupMemory) != 0;
  }

  // void f(…, ptr %words)  ->  %v = f(…) as a vector ; store %v, ptr %words
  absl::Status ReplaceBlockRead(llvm::CallInst& call, const std::string& name, unsigned order) {
    const unsigned last = call.arg_size() - 1;
    auto* words = llvm::dyn_cast<llvm::AllocaInst>(call.getArgOperand(last)->stripPointerCasts());
    if (!words) return absl::InvalidArgumentError("the emulator reads blocks to variables of the kernel alone");
    const llvm::ArrayType* array = llvm::dyn_cast<llvm::ArrayType>(words->getAllocatedType());
    if (!array) return absl::InvalidArgumentError("the emulator reads blocks to arrays alone");
    auto* vector = llvm::FixedVectorType::get(array->getElementType(), array->getNumElements());
    llvm::SmallVector<llvm::Value*> arguments(call.arg_begin(), call.arg_begin() + last);
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    llvm::IRBuilder<> b(&call);
    auto* type = llvm::FunctionType::get(vector, types, false);
    llvm::CallInst* read = b.CreateCall(module_.getOrInsertFunction("tritond." + name, type), arguments);
    b.CreateAlignedStore(read, words, llvm::Align(2));
    call.eraseFromParent();
    return calls_.Replace(*read, name, order);
  }

  // As C promotes the arguments, and with the format in the address space that the host has.
  absl::Status ReplacePrint(llvm::CallInst& call) {
    llvm::IRBuilder<> b(&call);
    llvm::SmallVector<llvm::Value*> arguments = {b.CreateAddrSpaceCast(call.getArgOperand(0), b.getPtrTy())};
    for (llvm::Value* argument : llvm::drop_begin(call.args()))
      arguments.push_back(argument->getType()->isFloatTy() ? b.CreateFPExt(argument, b.getDoubleTy()) : argument);
    Runtime(b, RuntimeFunction::kPrint, arguments);
    return Become(call, llvm::ConstantInt::get(call.getType(), 0));
  }

  llvm::Module& module_;
  BufferResources resources_;
  AmdCalls calls_;
};

}  // namespace

absl::Status EmulateIntel(llvm::Module& module, const KernelOptions& options, const TargetInfo& device) {
  if (absl::Status status = CheckGlobals(module); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = host::MakeTargetMachine();
  if (!machine.ok()) return machine.status();
  // First: what follows makes code for this machine, and asks for its sizes.
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  MarkKernels(module);
  if (absl::Status status = Emulation(module, device).Run(); !status.ok()) return status;
  // Integers of fewer bits go by those of 32.
  ClampConversions(module, 32);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
