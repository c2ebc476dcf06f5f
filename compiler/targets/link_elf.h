// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_LINK_ELF_H_
#define COMPILER_TARGETS_LINK_ELF_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"

namespace tritond::compiler {

// The ELF shared object that lld makes of one object, with `flags` beside those that every target has. Call it in a
// process of its own (work_process.h), one thread at a time. Reason: lld keeps its state in the process, and resets the
// options of all of LLVM there. Internal, with the linker's log. ResourceExhausted: no file in memory can be made.
absl::StatusOr<std::string> LinkSharedObject(const std::string& object, llvm::ArrayRef<const char*> flags);
// The same of files, which `arguments` names among lld's flags.
absl::StatusOr<std::string> LinkSharedObject(llvm::ArrayRef<const char*> arguments);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_LINK_ELF_H_
