// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/processor.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetOptions.h"

extern "C" {
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

namespace tritond::compiler::amd {

Processor ProcessorOf(const Architecture& arch) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
  return {"amdgcn-amd-amdhsa", arch.name, arch.features};
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Architecture& arch,
                                                                       const KernelOptions& options) {
  const Processor processor = ProcessorOf(arch);
  std::string error;
  const llvm::Triple triple(processor.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return absl::InternalError(error);
  llvm::TargetOptions llvm_options;
  llvm_options.AllowFPOpFusion = options.enable_fp_fusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  llvm_options.MCOptions.AsmVerbose = false;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, processor.cpu, processor.features,
                                                                          llvm_options, llvm::Reloc::PIC_, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace tritond::compiler::amd
