// SPDX-License-Identifier: Apache-2.0
// LLVM's back ends, run so that what they complain about is a status.
#ifndef COMPILER_TARGETS_ASSEMBLY_TEXT_H_
#define COMPILER_TARGETS_ASSEMBLY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler {

// Whether the back end moves machine instructions in front of the loops that do not change their result. It does so
// whatever the registers that the results take during the loop.
enum class Hoisting { kUsual, kNone };

// The assembly text of `module`, whose triple and data layout become the machine's. Internal, with the back end's
// errors, when it rejects the module.
absl::StatusOr<std::string> WriteAssemblyText(llvm::Module& module, llvm::TargetMachine& machine,
                                              Hoisting hoisting = Hoisting::kUsual);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ASSEMBLY_TEXT_H_
