// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "compiler/targets/host/codegen.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetOptions.h"

extern "C" {
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
}

namespace tritond::compiler::host {
void InitializeBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine() {
  InitializeBackEnd();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  if (!target) return absl::InternalError(error);
  llvm::TargetOptions options;
  // The linker drops functions that nothing calls.
  options.FunctionSections = true;
  options.MCOptions.AsmVerbose = false;
  // Only what lowering marks may become a fused multiply-add.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // Most kernels run for less time than it takes to compile them, and this takes half of it.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(kTriple), kCpu, "", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::None));
}

std::string KernelNameIn(const std::string& text) {
  // "\t.globl\tNAME" followed by "\t.type\tNAME,@function"; variables are objects. Unusual names are quoted.
  const std::string directive = "\t.type\t", kind = ",@function";
  for (size_t at = text.find("\t.globl\t"); at != std::string::npos; at = text.find("\t.globl\t", at + 1)) {
    const size_t begin = at + std::string("\t.globl\t").size();
    const std::string name = text.substr(begin, text.find('\n', begin) - begin);
    if (text.find("\t.hidden\t" + name + "\n") != std::string::npos) continue;
    if (text.find(directive + name + kind) == std::string::npos) continue;
    return name.size() > 2 && name.front() == '"' ? name.substr(1, name.size() - 2) : name;
  }
  return "";
}

}  // namespace tritond::compiler::host
