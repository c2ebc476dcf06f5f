// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_LLVM_ANALYSES_H_
#define COMPILER_TARGETS_LLVM_ANALYSES_H_

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler {

// What LLVM's passes ask for a module, for one run of a pipeline.
struct LlvmAnalyses {
  explicit LlvmAnalyses(llvm::TargetMachine& machine, llvm::PipelineTuningOptions tuning = {})
      : builder(&machine, tuning) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }

  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_LLVM_ANALYSES_H_
