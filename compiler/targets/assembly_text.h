// SPDX-License-Identifier: Apache-2.0
// LLVM's back ends, run so that what they complain about is a status.
#ifndef COMPILER_TARGETS_ASSEMBLY_TEXT_H_
#define COMPILER_TARGETS_ASSEMBLY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler {

// What the back end moves from block to block, whatever the registers that it takes.
struct CodeMotion {
  bool hoists = true;  // in front of the loops that do not change the result
  bool sinks = true;   // down to the block that uses the result
};

// The assembly text of `module`, whose triple and data layout become the machine's. Internal, with the back end's
// errors, when it rejects the module.
absl::StatusOr<std::string> WriteAssemblyText(llvm::Module& module, llvm::TargetMachine& machine,
                                              CodeMotion motion = {});

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ASSEMBLY_TEXT_H_
