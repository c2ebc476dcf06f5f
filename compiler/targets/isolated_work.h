// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_ISOLATED_WORK_H_
#define COMPILER_TARGETS_ISOLATED_WORK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritond::compiler {

struct IsolationLimits {
  int cpu_seconds = 10;
  uint64_t memory_bytes = uint64_t{1} << 30;  // beyond what the process has now
};

// Runs `work` in a process of its own, a copy of this one, and returns what it returned there. Nothing else that it did
// is seen here. For libraries that crash on input that is not theirs. InvalidArgument with the signal when the process
// dies ("`what` died of signal 11"), or with the limit that it reached. ResourceExhausted when it cannot be started;
// Cancelled, and the process is killed at once, when the compile is abandoned (CompileChildren).
absl::StatusOr<std::string> RunIsolated(absl::string_view what, llvm::function_ref<absl::StatusOr<std::string>()> work,
                                        const IsolationLimits& limits = {});

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ISOLATED_WORK_H_
