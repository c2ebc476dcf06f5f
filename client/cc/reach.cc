// SPDX-License-Identifier: Apache-2.0
#include "client/cc/reach.h"

#include <algorithm>
#include <utility>

#include "client/cc/retry.h"

namespace tritond::client {
namespace {

constexpr absl::Duration kFirstRest = absl::Seconds(1);
constexpr absl::Duration kLongestRest = absl::Seconds(30);

}  // namespace

Reach::Reach(size_t daemons, std::function<absl::Time()> clock) : clock_(std::move(clock)), daemons_(daemons) {}

void Reach::Learn(size_t daemon, const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  State& state = daemons_[daemon];
  if (!DroppedByServer(status) && !IsForeign(status)) {
    state = {};
    return;
  }
  state.rest = std::min(std::max(state.rest * 2, kFirstRest), kLongestRest);
  state.until = clock_() + state.rest;
}

Order Reach::InReachFirst(Order order) const {
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return daemons_[i].until <= now; });
  return order;
}

}  // namespace tritond::client
