// SPDX-License-Identifier: Apache-2.0
// What is AMD's in a module, step by step: kernels and their attributes, inline assembly, intrinsics, buffer
// descriptors, private memory, hidden arguments. Another step is conversions that LLVM leaves undefined where the
// device clamps. Address spaces stay: they are one where the code runs. Shared memory lies below 4 GiB there, so that
// its addresses fit 32 bits too.
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "compiler/targets/emulated/any_device.h"
#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tritond::compiler::emulated {
namespace {

using host::RuntimeFunction;

constexpr unsigned kPrivateSpace = 5;
constexpr uint64_t kSharedWindowBytes = 256 << 10;

// All that a function's attributes say to AMD's back end, and how parameters pass there.
void DropAttributes(llvm::Function& function) {
  llvm::AttributeMask mask;
  for (llvm::Attribute attribute : function.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute()) mask.addAttribute(attribute.getKindAsString());
  function.removeFnAttrs(mask);
  for (llvm::Argument& argument : function.args()) argument.removeAttr(llvm::Attribute::InReg);
  function.setCallingConv(llvm::CallingConv::C);
}

absl::Status MarkKernels(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const bool is_kernel = function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !function.isDeclaration();
    for (llvm::Argument& argument : function.args())
      if (is_kernel && argument.hasPointeeInMemoryValueAttr())
        return absl::InvalidArgumentError("the emulator has no parameters that are passed by value in memory");
    DropAttributes(function);
    if (is_kernel) function.addFnAttr(kKernelAttr);
  }
  return absl::OkStatus();
}

// Constants of 0 for both scales select the instruction without scales ("User Guide for AMDGPU Backend",
// llvm.amdgcn.mfma.scale).
void DropZeroScales(llvm::CallInst& call) {
  constexpr unsigned kScales[] = {6, 8};
  constexpr uint64_t kOne = 127;  // an exponent
  for (unsigned scale : kScales) {
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(scale));
    if (!constant || !constant->isZero()) return;
  }
  for (unsigned scale : kScales)
    call.setArgOperand(scale, llvm::ConstantInt::get(call.getArgOperand(scale)->getType(), kOne));
}

// A function's stack is private memory where the code runs.
void MovePrivateMemory(llvm::Module& module) {
  llvm::SmallVector<llvm::AllocaInst*> slots;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (instruction.isLifetimeStartOrEnd()) instruction.eraseFromParent();
    }
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (slot && slot->getAddressSpace() == kPrivateSpace) slots.push_back(slot);
    }
  }
  for (llvm::AllocaInst* slot : slots) {
    llvm::IRBuilder<> b(slot);
    llvm::AllocaInst* plain = b.CreateAlloca(slot->getAllocatedType(), 0, slot->getArraySize());
    plain->setAlignment(slot->getAlign());
    slot->replaceAllUsesWith(b.CreateAddrSpaceCast(plain, slot->getType()));
    slot->eraseFromParent();
  }
}

class Emulation final {
 public:
  Emulation(llvm::Module& module, const KernelOptions& options, const TargetInfo& device)
      : module_(module),
        arch_(device.arch.get<std::string>()),
        lanes_(device.lanes),
        threads_(device.lanes * options.num_warps),
        resources_(arch_ == "gfx1250"),
        calls_(module, arch_, resources_) {}

  absl::Status Run() {
    llvm::SmallVector<llvm::CallInst*> calls;
    if (absl::Status status = CollectCalls(&calls); !status.ok()) return status;
    // While all calls are there to be seen.
    for (llvm::CallInst* call : calls)
      if (IsBarrier(*call) && OrdersShared(*call, arch_)) ordering_.insert(call);
    unsigned order = 0;
    for (llvm::CallInst* call : calls)
      if (absl::Status status = Replace(*call, ++order); !status.ok()) return status;
    BindHiddenArguments(hidden_, threads_);
    return resources_.Finish(module_);
  }

 private:
  static bool IsBarrier(const llvm::CallInst& call) {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    return id == llvm::Intrinsic::amdgcn_s_barrier || id == llvm::Intrinsic::amdgcn_s_barrier_wait;
  }

  // In the order of the code, inline assembly replaced.
  absl::Status CollectCalls(llvm::SmallVectorImpl<llvm::CallInst*>* calls) {
    for (llvm::Function& function : module_) {
      if (function.isDeclaration()) continue;
      for (llvm::BasicBlock* block : BlocksInOrder(function)) {
        for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
          if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst>(instruction))
            return absl::InvalidArgumentError("the emulator has no calls that branch");
          auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          if (!call) continue;
          if (!call->isInlineAsm()) {
            calls->push_back(call);
          } else if (absl::Status status = ReplaceAmdAssembly(*call, arch_, *calls); !status.ok()) {
            return status;
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Replace(llvm::CallInst& call, unsigned order) {
    llvm::Function* callee = call.getCalledFunction();
    if (!callee) return absl::InvalidArgumentError("the emulator has no calls by address");
    call.setCallingConv(callee->getCallingConv());
    for (unsigned i = 0; i < call.arg_size(); ++i) call.removeParamAttr(i, llvm::Attribute::InReg);
    switch (callee->getIntrinsicID()) {
      case llvm::Intrinsic::trap:
        ReplaceTrap(call);
        return absl::OkStatus();
      case llvm::Intrinsic::debugtrap:
        call.eraseFromParent();
        return absl::OkStatus();
      // v_max_f32 and v_min_f32 order zeros by their signs; what llvm.maxnum makes of them is open.
      case llvm::Intrinsic::maxnum:
        return Rename(call, llvm::Intrinsic::maximumnum);
      case llvm::Intrinsic::minnum:
        return Rename(call, llvm::Intrinsic::minimumnum);
      case llvm::Intrinsic::readsteadycounter:
      case llvm::Intrinsic::readcyclecounter:
        return calls_.Replace(call, "s.memrealtime", 0);
      default:
        break;
    }
    llvm::StringRef name = callee->getName();
    if (!name.consume_front("llvm.amdgcn.")) return absl::OkStatus();
    // Without the types that the intrinsic is overloaded for.
    if (callee->isIntrinsic()) name = llvm::Intrinsic::getBaseName(callee->getIntrinsicID()).drop_front(12);
    return ReplaceIntrinsic(call, name, order);
  }

  // Calls the intrinsic `id`, of the same type, instead.
  static absl::Status Rename(llvm::CallInst& call, llvm::Intrinsic::ID id) {
    call.setCalledFunction(llvm::Intrinsic::getOrInsertDeclaration(call.getModule(), id, {call.getType()}));
    return absl::OkStatus();
  }

  absl::Status ReplaceIntrinsic(llvm::CallInst& call, llvm::StringRef name, unsigned order) {
    llvm::IRBuilder<> b(&call);
    switch (AmdUseOf(name)) {
      case AmdUse::kUnknown:
        return absl::InvalidArgumentError(absl::StrCat("the emulator has no intrinsic llvm.amdgcn.", name.str()));
      case AmdUse::kDrop:
        call.eraseFromParent();
        return absl::OkStatus();
      case AmdUse::kRun:
        return calls_.Replace(call, name.str(), 0);
      case AmdUse::kRunTogether:
        if (name.starts_with("mfma.scale")) DropZeroScales(call);
        return calls_.Replace(call, name.str(), order);
      case AmdUse::kWorkitemX:
        return Become(call, Runtime(b, RuntimeFunction::kThreadId, {}));
      case AmdUse::kZero:
        return Become(call, llvm::ConstantInt::get(call.getType(), 0));
      case AmdUse::kWorkgroup:
        return Become(call, Runtime(b, RuntimeFunction::kProgramId, {b.getInt32(name.back() - 'x')}));
      case AmdUse::kWaveId:
        return Become(call, b.CreateUDiv(Runtime(b, RuntimeFunction::kThreadId, {}), b.getInt32(lanes_)));
      case AmdUse::kWaveSize:
        return Become(call, b.getInt32(lanes_));
      case AmdUse::kBarrier:
        EmitBarrier(b, call);
        return Become(call, nullptr);
      case AmdUse::kWaveBarrier:
        Runtime(b, RuntimeFunction::kWarpBarrier, {Nowhere(b)});
        return Become(call, nullptr);
      case AmdUse::kSignal:
      case AmdUse::kWait:
        return ReplaceSplitBarrier(call, name);
      case AmdUse::kMaskedCount:
        return Become(call, EmitMaskedCount(b, call, name.ends_with("hi")));
      case AmdUse::kHiddenPointer:
        hidden_.push_back(&call);
        return absl::OkStatus();
      case AmdUse::kMakeBuffer:
        if (!IsBufferResource(call.getType()))
          return absl::InvalidArgumentError("the emulator has buffers by descriptor alone: ptr addrspace(8)");
        return resources_.Widen(&call).status();
      case AmdUse::kIsShared:
        return Become(call, EmitIsShared(b, call));
      case AmdUse::kAtomicFloat:
        return Become(call, EmitAtomicFloat(b, call, name.contains("fmin")));
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

  static llvm::Value* Nowhere(llvm::IRBuilder<>& b) { return llvm::ConstantPointerNull::get(b.getPtrTy()); }

  // One that orders nothing may as well not hold other waves up: what they access then shows.
  void EmitBarrier(llvm::IRBuilder<>& b, const llvm::CallInst& barrier) {
    const bool orders = ordering_.contains(&barrier);
    Runtime(b, orders ? RuntimeFunction::kBarrier : RuntimeFunction::kWarpBarrier, {Nowhere(b)});
  }

  // The two halves: each thread says that it comes, which the run-time remembers; it waits as at a whole barrier.
  absl::Status ReplaceSplitBarrier(llvm::CallInst& call, llvm::StringRef name) {
    auto* which = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!which || which->getSExtValue() != -1)
      return absl::InvalidArgumentError(
          absl::StrCat("the emulator has llvm.amdgcn.", name.str(), " for barrier -1 alone"));
    if (name.ends_with("wait")) {
      llvm::IRBuilder<> b(call.getNextNode());
      b.SetCurrentDebugLocation(call.getDebugLoc());
      EmitBarrier(b, call);
    }
    return calls_.Replace(call, name.str(), 0);
  }

  // How many lanes below this one the mask has, of the lower or the upper 32, and a number to add.
  llvm::Value* EmitMaskedCount(llvm::IRBuilder<>& b, llvm::CallInst& call, bool is_high) {
    llvm::Value* lane = b.CreateAnd(Runtime(b, RuntimeFunction::kThreadId, {}), lanes_ - 1);
    llvm::Value* below = b.CreateSub(b.CreateShl(b.getInt64(1), b.CreateZExt(lane, b.getInt64Ty())), b.getInt64(1));
    llvm::Value* half = b.CreateTrunc(is_high ? b.CreateLShr(below, 32) : below, b.getInt32Ty());
    llvm::Value* lanes = b.CreateAnd(call.getArgOperand(0), half);
    return b.CreateAdd(b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), call.getArgOperand(1));
  }

  llvm::Value* EmitIsShared(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* start = b.CreatePtrToInt(Runtime(b, RuntimeFunction::kSharedMemory, {}), b.getInt64Ty());
    llvm::Value* address = b.CreatePtrToInt(call.getArgOperand(0), b.getInt64Ty());
    return b.CreateICmpULT(b.CreateSub(address, start), b.getInt64(kSharedWindowBytes));
  }

  static llvm::Value* EmitAtomicFloat(llvm::IRBuilder<>& b, llvm::CallInst& call, bool is_minimum) {
    return b.CreateAtomicRMW(is_minimum ? llvm::AtomicRMWInst::FMin : llvm::AtomicRMWInst::FMax, call.getArgOperand(0),
                             call.getArgOperand(1), llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
  }

  llvm::Module& module_;
  const std::string arch_;
  const int lanes_;
  const int threads_;
  BufferResources resources_;
  AmdCalls calls_;
  llvm::SmallVector<llvm::CallInst*> hidden_;
  llvm::SmallPtrSet<const llvm::CallInst*, 8> ordering_;  // barriers that order accesses to shared memory
};

}  // namespace

absl::Status EmulateAmd(llvm::Module& module, const KernelOptions& options, const TargetInfo& device) {
  if (absl::Status status = CheckGlobals(module); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = host::MakeTargetMachine();
  if (!machine.ok()) return machine.status();
  // First: what follows makes code for this machine, and asks for its sizes.
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  if (absl::Status status = MarkKernels(module); !status.ok()) return status;
  MovePrivateMemory(module);
  if (absl::Status status = ExpandMaskedAccesses(module); !status.ok()) return status;
  if (absl::Status status = Emulation(module, options, device).Run(); !status.ok()) return status;
  // Integers of fewer bits go by those of 32.
  ClampConversions(module, 32);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
