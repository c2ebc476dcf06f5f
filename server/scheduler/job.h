// SPDX-License-Identifier: Apache-2.0
// The values that go into and come out of the scheduler. What a job is about stays opaque to it.
#ifndef SERVER_SCHEDULER_JOB_H_
#define SERVER_SCHEDULER_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/errors/reason.h"

namespace tritond::server {

// Injected time; every call returns the current time.
using Clock = std::function<absl::Time()>;

// Most urgent first.
enum class JobClass { kInteractive, kAutotune, kPrebuild };
inline constexpr int kJobClasses = 3;

// What a worker must have to run a job.
struct Requirement {
  std::string target;
  std::string build_id;
  bool binary = false;   // the last stage too, which may need a tool that not every worker has
  std::string not_on{};  // a worker that has failed, unless there is no other; "": none

  friend bool operator<(const Requirement& a, const Requirement& b) {
    return std::tie(a.target, a.build_id, a.binary, a.not_on) < std::tie(b.target, b.build_id, b.binary, b.not_on);
  }
};

// What a worker has.
struct WorkerOffer {
  std::string name;
  std::string build_id;
  std::map<std::string, bool> targets;  // to whether it can make the binary
  int slots = 1;

  bool CanRun(const Requirement& needs) const {
    auto it = targets.find(needs.target);
    return it != targets.end() && build_id == needs.build_id && (it->second || !needs.binary);
  }
};

// Base of what the scheduler carries without looking at it.
struct Payload {
  virtual ~Payload() = default;
};

struct JobSpec {
  std::string id;   // names it in logs and lists; a job that joins another in flight goes by that one's
  std::string key;  // one job per key is in flight
  Requirement needs;
  JobClass job_class = JobClass::kInteractive;
  std::string tenant;
  std::string label;
  bool refresh = false;                    // what other daemons have made does not count
  bool offerable = true;                   // other daemons may take it
  size_t bytes = 0;                        // of the payload, when another daemon is to read it
  bool may_queue = true;                   // false: there is no memory for it; it joins a job that is there, or fails
  std::shared_ptr<const Payload> payload;  // Shared: each attempt hands it to a worker.
};

// How a job ended. Failures that the scheduler itself makes carry a reason.
struct Outcome {
  std::string job;  // the id of the job that ended; "": there was none
  absl::Status status;
  std::shared_ptr<const Payload> value;  // Shared by all waiters.
  Reason reason = Reason::kNone;         // kNone when the job itself failed
  absl::Duration retry_delay;            // zero: do not retry
  std::vector<std::string> reports;      // of the workers that died of it
  bool quarantined = false;
  bool stored = false;     // found by the recheck: nothing ran
  bool elsewhere = false;  // another daemon's run brought it, which this one waited for
  std::string worker;      // the last one that ran it
  int attempts = 0;
  absl::Duration queue_time;
};

// Why a worker is gone.
struct Loss {
  enum class Kind {
    kDisconnected,  // nobody's fault: its jobs go elsewhere
    kCrashed,       // the process died: the jobs that it had begun are suspects
    kTimeLimit,     // ended because a job overran its limit: that job is not tried again
    kStopped,       // on purpose
  };
  Kind kind = Kind::kDisconnected;
  std::string report;
  std::vector<uint64_t> begun;  // leases that were being worked on
};

// A job that has not ended, as lists show it.
struct OpenJob {
  std::string id, key, label, target, tenant;
  JobClass job_class = JobClass::kInteractive;
  absl::Time created;
  absl::Time started;  // of its first run; InfiniteFuture while it is queued
  std::string worker;  // of its latest run
  std::string stage;   // what that run has reached, in the worker's words
  size_t waiters = 0;  // callers that wait for it
};

// A job that has ended.
struct FinishedJob {
  std::string id, key, label, target, tenant, worker;
  JobClass job_class = JobClass::kInteractive;
  absl::Status status;
  absl::Duration queue_time, run_time;
  absl::Time finished;
  int attempts = 0;
  size_t callers = 0;                      // all that ever waited for it
  std::shared_ptr<const Payload> payload;  // what it was about; null where the job never had it
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_JOB_H_
