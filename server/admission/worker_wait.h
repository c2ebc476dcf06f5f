// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_WORKER_WAIT_H_
#define SERVER_ADMISSION_WORKER_WAIT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/admission/waiting_caller.h"

namespace tritond::server {

// Where calls wait for a worker that offers their target, before they have a job. TargetCatalog implements it. Each
// wait ends: with a worker, at its deadline, or when the catalog's `worker_wait` has passed. Thread-safe.
class WorkerWait {
 public:
  enum class Arrival {
    kAttached,  // a worker offers the target
    kUnknown,   // none does or did, and those that were expected are here
    kNoWorker,  // one did, but it has not come back; or none has ever been here
    kDeadline,
  };
  using WaiterId = uint64_t;

  virtual ~WorkerWait() = default;
  // Calls back once when the target is attached or will not be; at once when that is known already. The callback runs
  // without locks, on the thread that brings the news.
  virtual WaiterId WhenAttached(const std::string& target, absl::Time deadline,
                                std::function<void(Arrival)> callback) = 0;
  // False when the callback has been called or is being called.
  virtual bool Leave(WaiterId waiter) = 0;
};

// Waits on this thread, for a caller without a deadline. Cancelled: the caller has gone.
absl::StatusOr<WorkerWait::Arrival> AwaitWorker(WorkerWait& workers, const std::string& target, WaitingCaller& caller);

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_WORKER_WAIT_H_
