// SPDX-License-Identifier: Apache-2.0
// What a worker process forbids itself, so that the code and the text of strangers in it can reach nothing. This is the
// door of this folder.
#ifndef WORKERS_SANDBOX_SANDBOX_H_
#define WORKERS_SANDBOX_SANDBOX_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "workers/sandbox/reach.h"

namespace tritond::workers {

struct SandboxPolicy {
  Reach reach;                        // beside the programs and the process itself
  std::vector<std::string> programs;  // to be run, by their absolute paths; none: nothing can be
  // Which means are tried; tests leave one out.
  bool landlock = true;
  bool namespaces = true;
};

// Closes all descriptors but the standard ones and reads nothing from a terminal: standard input is /dev/null.
void CloseInheritedFiles();

// From now on the process, with all that it starts, reaches what the policy says and nothing else. It makes the system
// calls of system_calls.h alone. It has a single thread, no_new_privs (LimitProcess), and no secret open. Returns what
// keeps files out of its reach: "landlock 7" or "namespaces"; "" where the system permits neither, and only file
// permissions do. FailedPrecondition: the system permits no system call filter. InvalidArgument: a program that cannot
// be confined. Internal: the process has other threads or children, or the system refused half way. After an error the
// process must end.
absl::StatusOr<std::string> EnterSandbox(const SandboxPolicy& policy);

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_SANDBOX_H_
