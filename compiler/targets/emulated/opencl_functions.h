// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL C and SPIR-V that kernels for Intel GPUs call.
#ifndef COMPILER_TARGETS_EMULATED_OPENCL_FUNCTIONS_H_
#define COMPILER_TARGETS_EMULATED_OPENCL_FUNCTIONS_H_

#include <string>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::emulated {

// The name in a mangled one, "erf" of "_Z3erff"; others as they are.
std::string PlainName(llvm::StringRef mangled);

// What becomes of a function, by its plain name.
enum class OpenClUse {
  kUnknown,
  kLocalId,      // the thread's index
  kGroupId,      // the program's
  kGroups,       // and how many there are
  kBarrier,      // of a scope
  kRunTogether,  // the run-time knows it by its name, with all lanes of the sub-group
  kReadBlock,    // the same, and the result goes to where the last operand points
  kPrint,
  kToBf16,
  kMath,  // EmitOpenClMath
};
OpenClUse OpenClUseOf(llvm::StringRef name);

// The value of a mathematical function of f32 or f64: by libm's, or a few operations.
llvm::Value* EmitOpenClMath(llvm::IRBuilder<>& b, llvm::CallInst& call, llvm::StringRef name);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_OPENCL_FUNCTIONS_H_
