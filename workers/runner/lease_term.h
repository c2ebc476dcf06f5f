// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_LEASE_TERM_H_
#define WORKERS_RUNNER_LEASE_TERM_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "compiler/driver/compile.h"

namespace tritond::workers {

// How long one lease is worth working on: until it is cancelled, or until its callers' deadline has passed. The last
// stage, begun in time, may go on for a little longer than the deadline. What is left to do is little as a rule, and
// the result is worth keeping. Pure logic; not thread-safe.
class LeaseTerm final {
 public:
  // How long the last stage may go on after the deadline.
  static constexpr absl::Duration kLastStageGrace = absl::Seconds(2);
  // A compile that has not ended this long after its term is stuck in a stage, whichever that is.
  static constexpr absl::Duration kGrace = absl::Seconds(3);

  LeaseTerm() = default;
  explicit LeaseTerm(absl::Time deadline) : deadline_(deadline) {}

  void Extend(absl::Time deadline) { deadline_ = deadline; }
  void Cancel(absl::Time now) { cancelled_ = now; }

  // The compile is about to begin a stage. Cancelled or DeadlineExceeded: it must not.
  absl::Status Enter(compiler::Stage stage, absl::Time now);

  // Whether the stage under way is to be abandoned.
  bool Expired(absl::Time now) const;

  // Whether to end the process, since work of its own cannot be interrupted otherwise.
  bool Overrun(absl::Time now) const;

 private:
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time cancelled_ = absl::InfiniteFuture();
  bool in_last_stage_ = false;
};

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_LEASE_TERM_H_
