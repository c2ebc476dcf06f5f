// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_FATAL_ERRORS_H_
#define COMPILER_TARGETS_FATAL_ERRORS_H_

#include "absl/status/status.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritond::compiler {

// Runs `work`. LLVM's back ends end the process where they meet an instruction that the target does not have. Here that
// is an Internal status with LLVM's words instead. What `work` had allocated by then is leaked, and whatever it worked
// on must not be used again. One thread of a process at a time.
absl::Status CatchFatalErrors(llvm::function_ref<void()> work);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_FATAL_ERRORS_H_
