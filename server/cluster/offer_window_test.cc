// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/offer_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace tritond::server {
namespace {

class OfferWindowTest : public testing::Test {
 protected:
  // The size after this time with takers that take one in so long, while there is one. Each is seen to be taken, and
  // its place filled, a while later.
  size_t After(absl::Duration duration, absl::Duration takes) {
    for (const absl::Time end = now_ + duration; now_ < end; now_ += absl::Milliseconds(1)) {
      for (; !open_.empty() && next_ <= now_; next_ = std::max(next_, now_ - takes) + takes) {
        taken_.push_back({open_.front(), now_ + seen_after_});
        open_.pop_front();
      }
      if (now_ < next_round_) continue;
      next_round_ = now_ + absl::Milliseconds(50);
      for (; !taken_.empty() && taken_.front().seen <= now_; taken_.pop_front())
        window_.CountTaken(now_ - taken_.front().made);
      for (size_ = window_.Update(now_); open_.size() + taken_.size() < size_;) open_.push_back(now_);
      while (open_.size() + taken_.size() > size_ && !open_.empty()) open_.pop_back();
    }
    return size_;
  }

  struct Taken {
    absl::Time made, seen;
  };
  OfferWindow::Config config_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  absl::Duration seen_after_ = absl::Milliseconds(75);
  OfferWindow window_{config_, now_};
  size_t size_ = config_.first;
  std::deque<absl::Time> open_;
  std::deque<Taken> taken_;
  absl::Time next_ = now_, next_round_ = now_;
};

TEST_F(OfferWindowTest, BeginsInTheMiddle) { EXPECT_EQ(window_.Update(now_), config_.first); }

TEST_F(OfferWindowTest, GrowsUpToItsBoundWhenAllIsTaken) {
  EXPECT_EQ(After(absl::Seconds(2), absl::Microseconds(100)), config_.most);
}

TEST_F(OfferWindowTest, OffersDoNotStandForLong) {
  for (const int takes_ms : {6, 20, 50}) {
    const size_t size = After(absl::Seconds(20), absl::Milliseconds(takes_ms));
    EXPECT_LE(size * takes_ms, 500u) << takes_ms;
    EXPECT_GE(size * takes_ms, std::min(75u, static_cast<unsigned>(config_.most) * takes_ms)) << takes_ms;
  }
}

TEST_F(OfferWindowTest, ASlowEngineIsNoReasonToShrink) {
  seen_after_ = absl::Milliseconds(600);
  EXPECT_EQ(After(absl::Seconds(10), absl::Milliseconds(10)), config_.most);
}

TEST_F(OfferWindowTest, ShrinksToItsLeastWhenNothingIsTaken) {
  next_ = absl::InfiniteFuture();
  EXPECT_EQ(After(absl::Milliseconds(1500), absl::Hours(1)), config_.first / 2);
  EXPECT_EQ(After(absl::Seconds(10), absl::Hours(1)), config_.least);
}

TEST_F(OfferWindowTest, GrowsAgain) {
  next_ = absl::InfiniteFuture();
  ASSERT_EQ(After(absl::Seconds(10), absl::Hours(1)), config_.least);
  next_ = now_;
  EXPECT_EQ(After(absl::Seconds(3), absl::Microseconds(500)), config_.most);
}

}  // namespace
}  // namespace tritond::server
