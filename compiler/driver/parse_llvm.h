// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_PARSE_LLVM_H_
#define COMPILER_DRIVER_PARSE_LLVM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler {

// What LLVM's parser complained about; line and column count from 1.
struct LlvmTextError {
  int line = 0, column = 0;
  std::string message;
};

// The valid module that `text` spells. InvalidArgument when it spells none; `*error` then has the place, if there is
// one (its message is empty otherwise).
absl::StatusOr<std::unique_ptr<llvm::Module>> ParseLlvm(const std::string& text, llvm::LLVMContext& context,
                                                        LlvmTextError* error);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_PARSE_LLVM_H_
