// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/cluster_turn.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

// How long a caller's departure goes unnoticed.
constexpr absl::Duration kLook = absl::Milliseconds(50);

}  // namespace

ClusterTurn::~ClusterTurn() {
  StopKeeping();
  // A lease that cannot be released runs out.
  if (lease_.token != 0) table_.Release(lease_).IgnoreError();
}

absl::StatusOr<ClusterTurn::State> ClusterTurn::Await(bool anew, WaitingCaller& caller) {
  cache::KeyLeaseTable::Wish wish;
  wish.ignore_outcome = anew;
  const absl::Time give_up = timing::SteadyNow() + config_.longest_wait;
  absl::Duration pause = config_.first_poll;
  for (bool told = false; timing::SteadyNow() < give_up; told = true) {
    const absl::StatusOr<cache::KeyLeaseTable::Answer> answer = table_.Ask(key_, config_.owner, config_.lease, wish);
    if (!answer.ok()) return State::kMine;
    if (answer->state == cache::KeyLeaseTable::State::kDone) return State::kDone;
    if (answer->state != cache::KeyLeaseTable::State::kHeld) {
      lease_ = answer->lease;
      if (lease_.token != 0) keeper_ = std::thread([this] { Keep(); });
      return State::kMine;
    }
    if (!told) caller.OnWait("another daemon of the cluster works on this");
    const absl::Time next = timing::SteadyNow() + pause;
    pause = std::min(2 * pause, config_.longest_poll);
    while (timing::SteadyNow() < next) {
      if (caller.IsGone()) return absl::CancelledError("nobody waits any more");
      absl::SleepFor(std::min(kLook, next - timing::SteadyNow()));
    }
  }
  return State::kMine;
}

void ClusterTurn::Keep() {
  // A lease that was lost costs a second run; it may come back as long as nobody else takes it.
  while (!end_.WaitForNotificationWithTimeout(config_.lease / 3))
    table_.Renew(lease_, config_.lease).status().IgnoreError();
}

void ClusterTurn::StopKeeping() {
  if (!keeper_.joinable()) return;
  end_.Notify();
  keeper_.join();
}

bool ClusterTurn::Publish(cache::Blob value) {
  StopKeeping();
  cache::KeyLease lease = lease_;
  lease.key = key_;
  lease.owner = config_.owner;
  const absl::StatusOr<bool> published = table_.Publish(lease, std::move(value));
  if (published.ok()) lease_.token = 0;  // It is released with that.
  return published.ok() && *published;
}

}  // namespace tritond::server
