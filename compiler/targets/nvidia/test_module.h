// SPDX-License-Identifier: Apache-2.0
// For tests of passes over LLVM IR.
#ifndef COMPILER_TARGETS_NVIDIA_TEST_MODULE_H_
#define COMPILER_TARGETS_NVIDIA_TEST_MODULE_H_

#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::nvidia {

// The text of a module after the pass. "broken": it makes none that is valid; what the parser says where the text is
// none.
inline std::string TextAfter(llvm::function_ref<void(llvm::Module&)> pass, const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) return error.getMessage().str();
  pass(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string after;
  llvm::raw_string_ostream os(after);
  module->print(os, nullptr);
  return after;
}

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TEST_MODULE_H_
