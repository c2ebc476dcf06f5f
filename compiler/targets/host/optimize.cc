// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/extern_functions.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/llvm_analyses.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tritond::compiler::host {
namespace {

// Calls of run-time functions came out of the LLVM dialect as plain declarations.
void DescribeRuntime(llvm::Module& module) {
  for (RuntimeFunction function : kRuntimeFunctions) {
    if (module.getFunction(NameOf(function))) DeclareRuntime(module, function);
  }
}

absl::Status DescribeLibrary(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (function.getName().starts_with("tritond.")) continue;
    if (function.getName() == kClockFunction) continue;
    if (!IsLibmFunction(function.getName())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the kernel calls ", std::string(function.getName()), ", which no library has"));
    }
    // Errors are in the results: nobody reads errno.
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.setWillReturn();
  }
  return absl::OkStatus();
}

// Every function may be unwound through, and may meet a barrier.
void SetCommonAttributes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setUWTableKind(llvm::UWTableKind::Async);
    function.setConvergent();
  }
}

// What leaves less code for the back end, and nothing that takes longer than it spares: such code runs once or twice.
void RunPasses(llvm::Module& module, llvm::TargetMachine& machine) {
  LlvmAnalyses analyses(machine);
  llvm::FunctionPassManager passes;
  // Lane and program ids, constants and addresses that lowering emits wherever it needs them.
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.run(module, analyses.modules);
}

}  // namespace

absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const KernelOptions& options) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) return absl::InternalError(absl::StrCat("broken LLVM IR: ", problem));
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  DescribeRuntime(module);
  // Before kernels are renamed, whose names places tell.
  BindSharedMemory(module);
  InstrumentAccesses(module);
  if (!options.debug_info) llvm::StripDebugInfo(module);
  // Before the optimiser draws its conclusions from a division.
  GuardDivisions(module);
  if (absl::Status status = ExportKernels(module); !status.ok()) return status;
  if (absl::Status status = DescribeLibrary(module); !status.ok()) return status;
  SetCommonAttributes(module);
  RunPasses(module, machine);
  // Last: the optimiser would look into them.
  BindRuntime(module);
  AddNarrowFloatFunctions(module);
  SplitLargeBlocks(module);
  SetCommonAttributes(module);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::host
