// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/lease_term.h"

#include <algorithm>

namespace tritond::workers {

absl::Status LeaseTerm::Enter(compiler::Stage stage, absl::Time now) {
  if (now >= cancelled_) return absl::CancelledError("the compile was cancelled");
  if (now >= deadline_) return absl::DeadlineExceededError("the callers' deadline passed while the compile ran");
  in_last_stage_ = stage == compiler::Stage::kBinary;
  return absl::OkStatus();
}

bool LeaseTerm::Expired(absl::Time now) const {
  return now >= cancelled_ || now >= deadline_ + (in_last_stage_ ? kLastStageGrace : absl::ZeroDuration());
}

bool LeaseTerm::Overrun(absl::Time now) const { return now - std::min(deadline_, cancelled_) > kGrace; }

}  // namespace tritond::workers
