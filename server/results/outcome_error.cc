// SPDX-License-Identifier: Apache-2.0
#include "server/results/outcome_error.h"

#include <utility>

#include "proto/v1/compile.pb.h"
#include "server/errors/error_details.h"

namespace tritond::server {

absl::Status FromOutcome(const std::string& key, const Outcome& outcome) {
  if (outcome.status.ok() || outcome.reason == Reason::kNone) return WithJob(outcome.status, outcome.job);
  absl::Status status = WithReason(outcome.status, outcome.reason, outcome.retry_delay);
  if (!outcome.reports.empty()) {
    v1::CrashReport crash;
    crash.set_key(key);
    for (const std::string& report : outcome.reports) crash.add_reports(BoundedMessage(report));
    crash.set_quarantined(outcome.quarantined);
    AddDetail(crash, &status);
  }
  return WithJob(std::move(status), outcome.job);
}

}  // namespace tritond::server
