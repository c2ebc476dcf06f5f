// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_PEERS_H_
#define SERVER_SCHEDULER_PEERS_H_

#include <cstdint>

#include "server/scheduler/job.h"

namespace tritond::server {

// What is to become of a job.
struct Verdict {
  enum class Kind {
    kQueue,    // it waits for a worker here
    kRun,      // it may run here, now and again until it ends
    kFollow,   // another daemon runs it: it waits for another verdict, and holds no worker
    kOutcome,  // it is over
  };
  Kind kind = Kind::kQueue;
  Outcome outcome;  // with kOutcome
};

// The other daemons of a cluster, as the scheduler sees them: they may have a job's outcome, or run it. Called with the
// scheduler locked: an implementation must neither block nor call back; its word comes later by Scheduler::Decide.
class Peers {
 public:
  virtual ~Peers() = default;
  // Is the outcome there? A verdict is due, but not kRun.
  virtual void Look(uint64_t job, const JobSpec& spec) = 0;
  // May the job run here? A worker is kept for it until the verdict. Asked again only after a verdict, or when that
  // worker is gone.
  virtual void Claim(uint64_t job, const JobSpec& spec) = 0;
  // The job has an outcome, or nobody wants it any more. Verdicts on it are ignored from now on.
  virtual void Ended(uint64_t job) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_PEERS_H_
