// SPDX-License-Identifier: Apache-2.0
// SPIR-V as text, in the language of the Khronos tools (spirv-dis, spirv-as): a line for each instruction.
#ifndef COMPILER_TARGETS_INTEL_SPIRV_TEXT_H_
#define COMPILER_TARGETS_INTEL_SPIRV_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler::intel {

// The text of a module. AssembleSpirv gives these very bytes again. Internal: `binary` is no module.
absl::StatusOr<std::string> DisassembleSpirv(absl::string_view binary);

// The binary of text that DisassembleSpirv wrote; the first lines, which are comments, hold the header. Internal, with
// the line, for what it does not write.
absl::StatusOr<std::string> AssembleSpirv(absl::string_view text);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_SPIRV_TEXT_H_
