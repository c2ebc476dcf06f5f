// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/own_options.h"
#include "compiler/targets/llvm_analyses.h"
#include "compiler/targets/share_addresses.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"

namespace tritond::compiler::amd {
namespace {

constexpr int kCodeObjectVersion = 500;
constexpr float kFastDivisionUlp = 2.5f;

// Where threads and blocks end: 32 bits of a launch's packet count the threads along an axis ("AQL packet").
void BoundIds(llvm::Function& kernel, int threads) {
  const auto below = [](uint64_t end) { return llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, end)); };
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    if (call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workitem_id_x) {
      call->addRangeRetAttr(below(threads));
    } else if (call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workgroup_id_x) {
      call->addRangeRetAttr(below(UINT32_MAX / threads + 1));
    }
  }
}

void SetLaunchBounds(llvm::Function& kernel, int threads, const KernelOptions& options) {
  llvm::LLVMContext& context = kernel.getContext();
  kernel.addFnAttr("amdgpu-flat-work-group-size", absl::StrCat(threads, ",", threads));
  kernel.addFnAttr("uniform-work-group-size", "true");
  if (const int waves = options.own.Integer(kWavesPerUnit, 0); waves > 0)
    kernel.addFnAttr("amdgpu-waves-per-eu", absl::StrCat(waves, ",", waves));
  // From this LLVM knows which bits of a thread's index are a wave's, and uniform.
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto size = [&](int value) { return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, value)); };
  kernel.setMetadata("reqd_work_group_size", llvm::MDNode::get(context, {size(threads), size(1), size(1)}));
  BoundIds(kernel, threads);
}

// Entry points get their launch bounds; all other functions are nobody else's business.
absl::Status MarkKernels(llvm::Module& module, const Architecture& arch, const KernelOptions& options) {
  int kernels = 0;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (options.own.Boolean(kFlushSubnormals, false))
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    const bool is_kernel = function.hasFnAttribute(kKernelAttr);
    if (is_kernel) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::ProtectedVisibility);
      function.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
      SetLaunchBounds(function, arch.lanes * options.num_warps, options);
    } else if (function.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      continue;
    }
    ++kernels;
  }
  return kernels > 0 ? absl::OkStatus() : absl::InvalidArgumentError("the module has no kernel");
}

// Divisions whose operands may be replaced by reciprocals (math_ops.cc) may be off by kFastDivisionUlp.
void MarkFastDivisions(llvm::Module& module) {
  llvm::MDNode* accuracy = llvm::MDBuilder(module.getContext()).createFPMath(kFastDivisionUlp);
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() != llvm::Instruction::FDiv || !instruction.hasAllowReciprocal()) continue;
      instruction.setHasAllowReciprocal(false);
      instruction.setMetadata(llvm::LLVMContext::MD_fpmath, accuracy);
    }
  }
}

// The instructions for float additions to global memory do nothing on memory of the host that it shares while a kernel
// runs ("fine-grained"). The device's own memory is none such. The instructions also round subnormals as they like.
void AllowFloatAtomics(llvm::Module& module) {
  llvm::MDNode* yes = llvm::MDNode::get(module.getContext(), {});
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (!atomic || !atomic->isFloatingPointOperation()) continue;
      for (const char* promise : {"amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory"})
        atomic->setMetadata(promise, yes);
      if (atomic->getType()->isFloatTy()) atomic->setMetadata("amdgpu.ignore.denormal.mode", yes);
    }
  }
}

absl::Status CheckResolved(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (function.getName() == kPrintFunction || IsCopyMark(function.getName())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel calls ", std::string(function.getName()), ", which no library has"));
  }
  return absl::OkStatus();
}

void RunO3(llvm::Module& module, llvm::TargetMachine& machine) {
  // Lowering has chosen the vectors; a vectoriser would only undo its choice. Loops are few and hot, so unrolling
  // stays.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  LlvmAnalyses analyses(machine, tuning);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.modules);
}

}  // namespace

absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                            DeviceLibrary& library, const KernelOptions& options) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) return absl::InternalError(absl::StrCat("broken LLVM IR: ", problem));
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (!module.getModuleFlag("amdhsa_code_object_version"))
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", kCodeObjectVersion);
  if (!options.debug_info) llvm::StripDebugInfo(module);
  if (absl::Status status = MarkKernels(module, arch, options); !status.ok()) return status;
  MarkFastDivisions(module);
  if (options.own.Boolean(kFastFloatAtomics, true)) AllowFloatAtomics(module);
  if (absl::Status status = LinkDeviceLibrary(module, arch, library); !status.ok()) return status;
  if (absl::Status status = CheckResolved(module); !status.ok()) return status;
  DescribeCopyMarks(module);
  RunO3(module, machine);
  UseBuffers(module, machine, arch);
  ShareAddresses(module);
  PlaceCopyWaits(module, arch, options.num_warps);
  ApplyScheduleHints(module, options);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::amd
