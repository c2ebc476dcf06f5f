// SPDX-License-Identifier: Apache-2.0
// How much a worker process may use, so that bad IR can hurt nothing but this process. What it may reach is
// workers/sandbox.
#ifndef WORKERS_RUNNER_LIMITS_H_
#define WORKERS_RUNNER_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tritond::workers {

// For the whole life of the process: no new privileges, no core dumps, few open files and none over 1 GiB. It has at
// most `memory_bytes` of address space; beyond that it ends with a message. 0: no limit. Before any thread starts.
// Internal when the system refuses.
absl::Status LimitProcess(uint64_t memory_bytes);

// The process dies (SIGXCPU) when it uses `more` CPU time from now on. Replaces the earlier bound.
void BoundCpuTime(absl::Duration more);

// CPU time of this process and of the children that it has waited for.
absl::Duration CpuTime();

// Resident memory now.
uint64_t ResidentBytes();

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_LIMITS_H_
