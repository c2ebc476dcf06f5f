// SPDX-License-Identifier: Apache-2.0
#include "server/admission/worker_wait.h"

#include "absl/strings/str_cat.h"
#include "timing/steady/event.h"

namespace tritond::server {
namespace {

// How long a caller's departure goes unnoticed.
constexpr absl::Duration kLook = absl::Milliseconds(50);

}  // namespace

absl::StatusOr<WorkerWait::Arrival> AwaitWorker(WorkerWait& workers, const std::string& target, WaitingCaller& caller) {
  WorkerWait::Arrival arrival = WorkerWait::Arrival::kNoWorker;
  timing::Event ended;
  const WorkerWait::WaiterId waiter =
      workers.WhenAttached(target, absl::InfiniteFuture(), [&](WorkerWait::Arrival how) {
        arrival = how;
        ended.Set();
      });
  if (ended.WaitFor(absl::ZeroDuration())) return arrival;
  caller.OnWait(absl::StrCat("no worker compiles for ", target, " yet"));
  while (!ended.WaitFor(kLook)) {
    if (!caller.IsGone()) continue;
    if (workers.Leave(waiter)) return absl::CancelledError("the caller has gone");
    ended.WaitFor(absl::InfiniteDuration());  // The callback runs, and uses this frame.
    break;
  }
  return arrival;
}

}  // namespace tritond::server
