// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/lease_term.h"

#include <gtest/gtest.h>

namespace tritond::workers {
namespace {

using compiler::Stage;

const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(LeaseTerm, WithoutADeadlineNothingEndsIt) {
  LeaseTerm term;
  EXPECT_TRUE(term.Enter(Stage::kLlir, kStart + absl::Hours(100)).ok());
  EXPECT_FALSE(term.Expired(kStart + absl::Hours(100)));
  EXPECT_FALSE(term.Overrun(kStart + absl::Hours(100)));
}

TEST(LeaseTerm, NoStageBeginsAfterItsDeadline) {
  LeaseTerm term(kStart + absl::Seconds(1));
  EXPECT_TRUE(term.Enter(Stage::kTtir, kStart).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(term.Enter(Stage::kTtgir, kStart + absl::Seconds(1))));
  EXPECT_TRUE(absl::IsDeadlineExceeded(term.Enter(Stage::kBinary, kStart + absl::Seconds(2))));
}

TEST(LeaseTerm, ALaterDeadlineCounts) {
  LeaseTerm term(kStart + absl::Seconds(1));
  term.Extend(kStart + absl::Seconds(10));
  EXPECT_TRUE(term.Enter(Stage::kTtgir, kStart + absl::Seconds(9)).ok());
  term.Extend(absl::InfiniteFuture());
  EXPECT_TRUE(term.Enter(Stage::kLlir, kStart + absl::Hours(1)).ok());
}

TEST(LeaseTerm, TheLastStageMayGoOnForALittle) {
  LeaseTerm term(kStart + absl::Seconds(1));
  EXPECT_TRUE(term.Enter(Stage::kLlir, kStart).ok());
  EXPECT_TRUE(term.Expired(kStart + absl::Seconds(1)));
  EXPECT_TRUE(term.Enter(Stage::kBinary, kStart).ok());
  EXPECT_FALSE(term.Expired(kStart + absl::Seconds(2)));
  EXPECT_TRUE(term.Expired(kStart + absl::Seconds(3)));
  term.Extend(kStart + absl::Seconds(5));
  EXPECT_FALSE(term.Expired(kStart + absl::Seconds(6)));
}

TEST(LeaseTerm, ButNotForever) {
  LeaseTerm term(kStart + absl::Seconds(1));
  EXPECT_TRUE(term.Enter(Stage::kBinary, kStart).ok());
  EXPECT_FALSE(term.Overrun(kStart + absl::Seconds(1) + LeaseTerm::kGrace));
  EXPECT_TRUE(term.Overrun(kStart + absl::Seconds(1) + LeaseTerm::kGrace + absl::Milliseconds(1)));
}

TEST(LeaseTerm, NorWhenItIsCancelled) {
  LeaseTerm term;
  EXPECT_TRUE(term.Enter(Stage::kBinary, kStart).ok());
  EXPECT_FALSE(term.Expired(kStart));
  term.Cancel(kStart);
  EXPECT_TRUE(term.Expired(kStart));
  EXPECT_TRUE(absl::IsCancelled(term.Enter(Stage::kBinary, kStart)));
  EXPECT_FALSE(term.Overrun(kStart + LeaseTerm::kGrace));
  EXPECT_TRUE(term.Overrun(kStart + LeaseTerm::kGrace + absl::Milliseconds(1)));
}

TEST(LeaseTerm, AStageThatDoesNotEndIsOverrunAfterAGrace) {
  LeaseTerm term(kStart);
  EXPECT_FALSE(term.Overrun(kStart));
  EXPECT_FALSE(term.Overrun(kStart + LeaseTerm::kGrace));
  EXPECT_TRUE(term.Overrun(kStart + LeaseTerm::kGrace + absl::Milliseconds(1)));
}

}  // namespace
}  // namespace tritond::workers
