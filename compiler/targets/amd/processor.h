// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_AMD_PROCESSOR_H_
#define COMPILER_TARGETS_AMD_PROCESSOR_H_

#include "compiler/targets/amd/architecture.h"
#include "compiler/targets/assemble_text.h"

namespace tritond::compiler::amd {

// The device as LLVM names it; its back end is initialised then. From any thread.
Processor ProcessorOf(const Architecture& arch);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_PROCESSOR_H_
