// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/intel/codegen.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"

namespace tritond::compiler::intel {
namespace {

class Optimizer final {
 public:
  explicit Optimizer(llvm::TargetMachine& machine) : builder_(&machine, Tuning()) {
    // OpenCL has none of C's library.
    llvm::TargetLibraryInfoImpl none(machine.getTargetTriple());
    none.disableAllFunctions();
    functions_.registerPass([none] { return llvm::TargetLibraryAnalysis(none); });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(sccs_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, sccs_, modules_);
  }

  void Inline(llvm::Module& module) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass());
    passes.run(module, modules_);
    modules_.clear();
  }

  void RunO3(llvm::Module& module) {
    builder_.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules_);
  }

 private:
  // Lowering has chosen the vectors; a vectoriser would only undo its choice.
  static llvm::PipelineTuningOptions Tuning() {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.LoopInterleaving = false;
    tuning.SLPVectorization = false;
    return tuning;
  }

  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager sccs_;
  llvm::ModuleAnalysisManager modules_;
};

// The sizes of a work-group and of its sub-groups.
void SetLaunchBounds(llvm::Function& kernel, const Device& device, int threads) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto size = [&](int value) { return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, value)); };
  kernel.setMetadata("reqd_work_group_size", llvm::MDNode::get(context, {size(threads), size(1), size(1)}));
  kernel.setMetadata("intel_reqd_sub_group_size", llvm::MDNode::get(context, {size(device.lanes)}));
}

// Without it the back end forbids drivers to fuse multiplications and additions.
void AllowContraction(llvm::Module& module) { module.getOrInsertNamedMetadata("opencl.enable.FP_CONTRACT"); }

absl::Status MarkKernels(llvm::Module& module, const Device& device, const KernelOptions& options) {
  llvm::SmallVector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.hasFnAttribute(kKernelAttr)) {
      kernels.push_back(&function);
    } else {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
  if (kernels.size() != 1)
    return absl::InvalidArgumentError(absl::StrCat("the module has ", kernels.size(), " kernels, not one"));
  absl::StatusOr<llvm::Function*> kernel = SetKernelSignature(kernels[0]);
  if (!kernel.ok()) return kernel.status();
  (*kernel)->setCallingConv(llvm::CallingConv::SPIR_KERNEL);
  SetLaunchBounds(**kernel, device, device.lanes * options.num_warps);
  return absl::OkStatus();
}

// Functions and calls agree on OpenCL's calling convention.
void SetCallingConventions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic() || function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL) continue;
    function.setCallingConv(llvm::CallingConv::SPIR_FUNC);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user); call && call->getCalledFunction() == &function)
        call->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  }
}

// Drivers refuse modules with f64 where the device has none.
absl::Status CheckNoDoubles(const llvm::Module& module, const Device& device) {
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const bool has_double = instruction.getType()->getScalarType()->isDoubleTy() ||
                              llvm::any_of(instruction.operands(), [](const llvm::Use& use) {
                                return use->getType()->getScalarType()->isDoubleTy();
                              });
      if (!has_double) continue;
      std::string text;
      llvm::raw_string_ostream(text) << instruction;
      return absl::InvalidArgumentError(absl::StrCat(device.arch.name, " has no f64, as in", text));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const Device& device,
                            const KernelOptions& options) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) return absl::InternalError(absl::StrCat("broken LLVM IR: ", problem));
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (!options.debug_info) llvm::StripDebugInfo(module);
  if (options.enable_fp_fusion) AllowContraction(module);
  SetCallingConventions(module);
  if (absl::Status status = MarkKernels(module, device, options); !status.ok()) return status;
  Optimizer optimizer(machine);
  optimizer.Inline(module);
  // Before the optimiser draws its conclusions from a division.
  GuardDivisions(module);
  ExpandFusedBfloat(module);
  // Before LLVM computes with bf16, which it may where the source rounds to it.
  if (absl::Status status = RemoveBfloat(module); !status.ok()) return status;
  optimizer.RunO3(module);
  return device.arch.has_f64 ? absl::OkStatus() : CheckNoDoubles(module, device);
}

}  // namespace tritond::compiler::intel
