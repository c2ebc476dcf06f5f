// SPDX-License-Identifier: Apache-2.0
#include "server/results/error_memory.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

class ErrorMemoryTest : public testing::Test {
 protected:
  absl::Time now_ = absl::FromUnixSeconds(1000);
  ErrorMemory memory_{absl::Seconds(60), 2, [this] { return now_; }};
};

TEST_F(ErrorMemoryTest, RemembersForItsLifetime) {
  memory_.Remember("k", absl::InvalidArgumentError("bad"));
  EXPECT_EQ(memory_.Find("k")->message(), "bad");
  EXPECT_FALSE(memory_.Find("other").has_value());
  now_ += absl::Seconds(60);
  EXPECT_FALSE(memory_.Find("k").has_value());
}

TEST_F(ErrorMemoryTest, ForgetsTheOldestWhenFull) {
  for (const char* key : {"a", "b", "c"}) memory_.Remember(key, absl::InvalidArgumentError(key));
  EXPECT_FALSE(memory_.Find("a").has_value());
  EXPECT_TRUE(memory_.Find("b").has_value());
  EXPECT_TRUE(memory_.Find("c").has_value());
}

TEST_F(ErrorMemoryTest, RememberingAgainLastsFromThenOn) {
  memory_.Remember("k", absl::InvalidArgumentError("first"));
  now_ += absl::Seconds(50);
  memory_.Remember("k", absl::InvalidArgumentError("second"));
  now_ += absl::Seconds(50);
  memory_.Remember("other", absl::InvalidArgumentError("x"));
  ASSERT_TRUE(memory_.Find("k").has_value());
  EXPECT_EQ(memory_.Find("k")->message(), "second");
}

TEST_F(ErrorMemoryTest, ForgetsOnDemand) {
  memory_.Remember("k", absl::InvalidArgumentError("bad"));
  memory_.Forget("k");
  EXPECT_FALSE(memory_.Find("k").has_value());
}

}  // namespace
}  // namespace tritond::server
