// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_ASSEMBLE_TEXT_H_
#define COMPILER_TARGETS_ASSEMBLE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace tritond::compiler {

// A processor as LLVM names it. Its back end and its assembly parser are initialised.
struct Processor {
  std::string triple, cpu, features;
};

// LLVM's assembler: the ELF object of assembly text, from memory to memory. InvalidArgument with the first complaint
// and its line, also for directives that read files. LLVM takes its own text; it crashes on some that others write.
absl::StatusOr<std::string> AssembleText(const std::string& text, const Processor& processor);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ASSEMBLE_TEXT_H_
