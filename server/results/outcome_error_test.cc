// SPDX-License-Identifier: Apache-2.0
#include "server/results/outcome_error.h"

#include <gtest/gtest.h>

#include "proto/v1/compile.pb.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

TEST(FromOutcome, OverloadSaysWhenToComeBack) {
  Outcome outcome;
  outcome.status = absl::ResourceExhaustedError("full");
  outcome.reason = Reason::kQueueFull;
  outcome.retry_delay = absl::Milliseconds(1500);
  const absl::Status status = FromOutcome("k", outcome);
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1500));
  EXPECT_EQ(ReasonOf(status), Reason::kQueueFull);
}

TEST(FromOutcome, ACrashHasItsReports) {
  Outcome outcome;
  outcome.status = absl::FailedPreconditionError("killed");
  outcome.reason = Reason::kQuarantined;
  outcome.reports = {"signal 6", std::string(10000, 'x')};
  outcome.quarantined = true;
  v1::CrashReport crash;
  ASSERT_TRUE(ReadDetail(FromOutcome("k", outcome), &crash));
  EXPECT_EQ(crash.key(), "k");
  EXPECT_TRUE(crash.quarantined());
  EXPECT_EQ(crash.reports(0), "signal 6");
  EXPECT_LT(crash.reports(1).size(), 5000u);
}

}  // namespace
}  // namespace tritond::server
