// SPDX-License-Identifier: Apache-2.0
#include "cache/store/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::cache {
namespace {

class NodeHealthTest : public testing::Test {
 protected:
  // A call that takes so long and ends so; whether it was made.
  bool Call(absl::Duration took, absl::Status status = absl::OkStatus()) {
    bool called = false;
    last_ = health_.Guard(
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
  Call(absl::Milliseconds(11), absl::UnavailableError("away"));
  const EngineNode figures = health_.Figures();
  EXPECT_EQ(figures.address, "a:1");
  EXPECT_EQ(figures.calls, 2u);
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

}  // namespace
}  // namespace tritond::cache
