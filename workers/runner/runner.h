// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_RUNNER_H_
#define WORKERS_RUNNER_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "compiler/driver/compile.h"
#include "workers/runner/credentials.h"
#include "workers/runner/dial_target.h"
#include "workers/runner/handover.h"

namespace tritond::workers {

struct RunnerOptions {
  std::string server;  // "unix:/path" or "host:port", for people
  DialTarget dial;     // what is dialled for it; empty: the server as it stands
  Credentials credentials;
  std::string name;  // for people; empty: host/pid
  std::string version;
  bool sandbox = true;      // open no further sockets once connected
  std::string confinement;  // what EnterSandbox returned, for the daemon
  // After so many jobs, or with more resident memory after a job, the worker ends in order: a fresh one has neither
  // leaks nor fragments. 0: never.
  uint64_t max_jobs = 0;
  uint64_t max_resident_bytes = 0;
  Handover* handover = nullptr;  // to the supervisor; null: there is none. Outlives the call.
  // Also called at the start of each stage; tests inject faults here. May be null.
  std::function<void(compiler::Stage, const compiler::CompileRequest&)> on_stage;
};

// Attaches to the daemon and serves leases with `compiler`, one at a time. Ok when the daemon drains this worker, when
// it has done its share, or when a stop signal asks it to end. Unavailable when the connection ends.
// FailedPrecondition: sockets cannot be forbidden. A worker that is to end tells the daemon, does what it holds, and
// ends when the daemon says that no more comes. Uses the calling thread to read, one to compile, one for heartbeats and
// one for signals, which the caller holds (HoldStopSignals). A lease that nobody wants any more is abandoned:
// assemblers and the linker end at once. When the compile does not end soon, the process ends. The compile's own work
// cannot be interrupted.
absl::Status RunWorker(const RunnerOptions& options, compiler::Compiler& compiler);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_RUNNER_H_
