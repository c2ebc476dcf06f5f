// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_AMD_INLINE_ASSEMBLY_H_
#define COMPILER_TARGETS_AMD_INLINE_ASSEMBLY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler::amd {

// Ok when the text of inline assembly, as LLVM has it, is instructions alone. Nothing that LLVM's assembler, which runs
// in this process, takes for a directive, a symbol or a macro. InvalidArgument, naming the statement, for all other.
absl::Status CheckInlineAssembly(absl::string_view text);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_INLINE_ASSEMBLY_H_
