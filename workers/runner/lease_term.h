// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_LEASE_TERM_H_
#define WORKERS_RUNNER_LEASE_TERM_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "compiler/driver/compile.h"

namespace tritond::workers {

// How long one lease is worth working on: until it is cancelled, or until its callers' deadline has passed. The last
// stage, begun in time, is finished whatever the deadline: little is left to do, and the result is worth keeping. Pure
// logic; not thread-safe.
class LeaseTerm final {
 public:
  // A compile that does not reach its next stage for this long after its term is stuck in one.
  static constexpr absl::Duration kGrace = absl::Seconds(4);

  LeaseTerm() = default;
  explicit LeaseTerm(absl::Time deadline) : deadline_(deadline) {}

  void Extend(absl::Time deadline) { deadline_ = deadline; }
  void Cancel(absl::Time now) { cancelled_ = now; }

  // The compile is about to begin a stage. Cancelled or DeadlineExceeded: it must not.
  absl::Status Enter(compiler::Stage stage, absl::Time now);

  // Whether to end the process, since a stage cannot be interrupted otherwise.
  bool Overrun(absl::Time now) const;

 private:
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time cancelled_ = absl::InfiniteFuture();
  bool in_last_stage_ = false;
};

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_LEASE_TERM_H_
