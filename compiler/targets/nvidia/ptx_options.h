// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_PTX_OPTIONS_H_
#define COMPILER_TARGETS_NVIDIA_PTX_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler::nvidia {

// Reads the value of the option ptx_options: flags for the assembler as ptxas spells them, separated by blanks. Flags
// come from any caller that may compile, so only those of a fixed list are taken. They choose among ways to generate
// code or report about it. None names a file, starts threads, or makes the assembler do something else than assemble.
//
// The flags in their long form with their value, "--opt-level=1", separated by one blank. InvalidArgument, naming the
// flag and what is allowed, for any other flag and for a value outside a flag's range.
absl::StatusOr<std::string> ReadPtxOptions(absl::string_view text);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_PTX_OPTIONS_H_
