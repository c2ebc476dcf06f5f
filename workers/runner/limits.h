// SPDX-License-Identifier: Apache-2.0
// What a worker process forbids itself, so that bad IR can hurt nothing but this process.
#ifndef WORKERS_RUNNER_LIMITS_H_
#define WORKERS_RUNNER_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tritond::workers {

// For the whole life of the process: no new privileges, no core dumps, few open files and none over 1 GiB, at most
// `memory_bytes` of address space (0: no limit; exceeding it ends the process with a message). Before any thread
// starts. Internal when the system refuses.
absl::Status LimitProcess(uint64_t memory_bytes);

// From now on, on every thread: no other processes' memory, no io_uring, no mounts, no kernel modules. Programs may be
// run (an assembler), which inherit all this. FailedPrecondition where the system has no seccomp or does not permit it.
absl::Status EnterSandbox();

// From now on, on every thread, within the sandbox: no new sockets. Open connections go on. Fails as EnterSandbox does.
absl::Status ForbidSockets();

// The process dies (SIGXCPU) when it uses `more` CPU time from now on. Replaces the earlier bound.
void BoundCpuTime(absl::Duration more);

// CPU time of this process and of the children that it has waited for.
absl::Duration CpuTime();

// Resident memory now.
uint64_t ResidentBytes();

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_LIMITS_H_
