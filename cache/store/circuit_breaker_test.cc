// SPDX-License-Identifier: Apache-2.0
#include "cache/store/circuit_breaker.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/status/statusor.h"

namespace tritond::cache {
namespace {

class CircuitBreakerTest : public testing::Test {
 protected:
  absl::Status Call() {
    return breaker_.Guard([this] {
      ++calls_;
      return status_;
    });
  }

  absl::Duration now_;
  absl::Status status_ = absl::UnavailableError("away");
  int calls_ = 0;
  CircuitBreaker breaker_{CircuitBreaker::Config(), [this] { return now_; }};
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARow) {
  Call().IgnoreError();
  status_ = absl::NotFoundError("an answer all the same");
  Call().IgnoreError();
  status_ = absl::UnavailableError("away");
  Call().IgnoreError();
  EXPECT_TRUE(breaker_.closed());
  Call().IgnoreError();
  EXPECT_FALSE(breaker_.closed());
  const int before = calls_;
  EXPECT_TRUE(absl::IsUnavailable(Call()));
  const absl::StatusOr<int> value = breaker_.Guard([] { return absl::StatusOr<int>(1); });
  EXPECT_TRUE(absl::IsUnavailable(value.status()));
  EXPECT_EQ(calls_, before);
}

TEST_F(CircuitBreakerTest, ASuccessfulTryClosesIt) {
  for (int i = 0; i < 2; ++i) Call().IgnoreError();
  status_ = absl::OkStatus();
  now_ += absl::Milliseconds(999);
  EXPECT_FALSE(Call().ok());
  now_ += absl::Milliseconds(1);
  EXPECT_TRUE(Call().ok());
  EXPECT_TRUE(breaker_.closed());
  EXPECT_TRUE(Call().ok());
}

TEST_F(CircuitBreakerTest, FailedTriesComeEverMoreRarely) {
  for (int i = 0; i < 2; ++i) Call().IgnoreError();
  std::vector<int> seconds;
  absl::Duration last = now_;
  for (int calls = calls_; seconds.size() < 8; now_ += absl::Milliseconds(250)) {
    Call().IgnoreError();
    if (calls_ == calls) continue;
    calls = calls_;
    seconds.push_back(static_cast<int>((now_ - last) / absl::Seconds(1)));
    last = now_;
  }
  EXPECT_EQ(seconds, (std::vector<int>{1, 2, 4, 8, 16, 30, 30, 30}));
}

}  // namespace
}  // namespace tritond::cache
