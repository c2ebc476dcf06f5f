// SPDX-License-Identifier: Apache-2.0
// Which system calls a worker may make: a list of what compilers, their assemblers and gRPC need. New kernels bring new
// ways to open files, change them or reach other processes. A list of what is forbidden would have to know each of
// them.
#ifndef WORKERS_SANDBOX_SYSTEM_CALLS_H_
#define WORKERS_SANDBOX_SYSTEM_CALLS_H_

#include "absl/status/status.h"

namespace tritond::workers {

struct SystemCallPolicy {
  // Something else (Landlock) keeps signals from processes outside. Where nothing does, this process can signal itself
  // and its group alone: a filter does not know its children. They end with it.
  bool may_signal = false;
  bool may_run_programs = true;
  bool may_change_folders = false;  // remove, rename, make folders: where something else says which
};

// From now on, on every thread: only the calls of the list. Others fail with ENOSYS, as on a kernel that lacks them, so
// that libraries go on by older ones. What reaches out of the process fails with EPERM. FailedPrecondition where the
// system has no seccomp or does not permit it.
absl::Status AllowOnlyWorkersCalls(const SystemCallPolicy& policy);

// From now on, on every thread: no new sockets either. Open connections go on. Fails as above.
absl::Status ForbidSockets();

// Whether this kernel can make memory files that cannot be run (Linux 6.3). Then no others are allowed.
bool HasUnrunnableMemoryFiles();

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_SYSTEM_CALLS_H_
