// SPDX-License-Identifier: Apache-2.0
#include "cache/store/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::cache {
namespace {

class NodeHealthTest : public testing::Test {
 protected:
  // A call that takes so long and ends so; whether it was made.
  bool Call(absl::Duration took, absl::Status status = absl::OkStatus(), const char* command = "GET") {
    bool called = false;
    last_ = health_.Guard(
        command,
        [&] {
          now_ += took;
          return status;
        },
        &called);
    return called;
  }

  absl::Duration now_;
  absl::Status last_;
  NodeHealth health_{"a:1", CircuitBreaker::Config(), [this] { return now_; }};
};

TEST_F(NodeHealthTest, CountsCallsAndFailuresAndSmoothsLatency) {
  Call(absl::Milliseconds(1));
  EXPECT_EQ(health_.Figures().latency, absl::Milliseconds(1));
  Call(absl::Milliseconds(11));
  EXPECT_EQ(health_.Figures().latency, absl::Milliseconds(2));
  Call(absl::Milliseconds(500), absl::UnavailableError("away"));
  const EngineNode figures = health_.Figures();
  EXPECT_EQ(figures.address, "a:1");
  EXPECT_EQ(figures.calls, 3u);
  EXPECT_EQ(figures.failures, 1u);
  EXPECT_EQ(figures.latency, absl::Milliseconds(2));
  EXPECT_TRUE(figures.answers);
}

TEST_F(NodeHealthTest, ANodeThatFailedTwiceIsNamedAndNotCalledForAWhile) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Call(absl::Milliseconds(500), absl::UnavailableError("away")));
  EXPECT_FALSE(health_.answers());
  EXPECT_FALSE(Call(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsUnavailable(last_));
  EXPECT_THAT(std::string(last_.message()), testing::HasSubstr("redis a:1: "));
  EXPECT_EQ(health_.Figures().calls, 2u);  // What was not called does not count.
  now_ += absl::Seconds(1);
  EXPECT_TRUE(Call(absl::Milliseconds(1)));
  EXPECT_TRUE(health_.answers());
}

TEST_F(NodeHealthTest, ANodeThatServesNothingIsLeftAloneAndSaysWhy) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Call(absl::ZeroDuration(), absl::FailedPreconditionError("NOAUTH: x")));
  EXPECT_FALSE(health_.answers());
  EXPECT_FALSE(health_.Figures().answers);
  EXPECT_EQ(health_.Figures().trouble, "NOAUTH: x");
  now_ += absl::Minutes(1);
  EXPECT_EQ(health_.Figures().trouble, "NOAUTH: x");  // Nothing has shown that it is over.
  EXPECT_TRUE(Call(absl::ZeroDuration(), absl::OkStatus(), "SET"));
  EXPECT_TRUE(health_.Figures().answers);
  EXPECT_EQ(health_.Figures().trouble, "");
}

TEST_F(NodeHealthTest, ANodeThatTakesNoWritesIsAskedOnAndSaysSoUntilItTakesOne) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Call(absl::ZeroDuration(), absl::ResourceExhaustedError("OOM: x"), "SET"));
  EXPECT_TRUE(health_.answers());
  EXPECT_FALSE(health_.Figures().answers);
  now_ += NodeHealth::kRemember;
  EXPECT_TRUE(Call(absl::ZeroDuration(), absl::OkStatus(), "GET"));
  EXPECT_EQ(health_.Figures().trouble, "OOM: x");
  EXPECT_TRUE(Call(absl::ZeroDuration(), absl::OkStatus(), "SET"));
  EXPECT_EQ(health_.Figures().trouble, "");
}

TEST_F(NodeHealthTest, ARefusalThatDoesNotHappenAgainIsForgotten) {
  Call(absl::ZeroDuration(), absl::PermissionDeniedError("NOPERM: x"), "EVAL");
  now_ += NodeHealth::kForget;
  Call(absl::ZeroDuration());
  EXPECT_EQ(health_.Figures().trouble, "");
}

TEST_F(NodeHealthTest, ANodeIsSlowOnceItHasBeenForAWhileAndUntilItIsFarQuicker) {
  Call(absl::Milliseconds(400));
  EXPECT_FALSE(health_.Figures().slow);  // One call says little.
  for (int i = 0; i < 20; ++i) Call(absl::Milliseconds(400));
  EXPECT_TRUE(health_.Figures().slow);
  EXPECT_TRUE(health_.Figures().answers);
  for (int i = 0; i < 100; ++i) Call(absl::Milliseconds(80));
  EXPECT_TRUE(health_.Figures().slow);
  for (int i = 0; i < 100; ++i) Call(absl::Milliseconds(20));
  EXPECT_FALSE(health_.Figures().slow);
}

}  // namespace
}  // namespace tritond::cache
