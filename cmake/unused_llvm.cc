// SPDX-License-Identifier: Apache-2.0
// lld refers to all of LLVM's targets and, through the link-time optimiser, to Polly. Programs link the targets that
// they have (TRITOND_LLVM_TARGETS); these stand in for the rest.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "none", "", nullptr}; }

#define UNUSED(target)                         \
  void LLVMInitialize##target##Target() {}     \
  void LLVMInitialize##target##TargetInfo() {} \
  void LLVMInitialize##target##TargetMC() {}   \
  void LLVMInitialize##target##AsmPrinter() {} \
  void LLVMInitialize##target##AsmParser() {}
extern "C" {
#include "llvm/unused_llvm_targets.inc"
}
