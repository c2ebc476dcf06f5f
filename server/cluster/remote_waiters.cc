// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/remote_waiters.h"

#include <algorithm>
#include <utility>

namespace tritond::server {

RemoteWaiters::RemoteWaiters(Config config, Clock clock, Host& host)
    : config_(config), clock_(std::move(clock)), host_(host) {}

uint64_t RemoteWaiters::Begin(const std::string& key, std::function<void()> left) {
  absl::MutexLock lock(&mu_);
  const uint64_t id = next_++;
  keys_[key].waiters[id].left = std::move(left);
  return id;
}

void RemoteWaiters::Waits(const std::string& key, uint64_t id, uint64_t waiter) {
  absl::MutexLock lock(&mu_);
  auto it = keys_.find(key);
  if (it == keys_.end()) return;
  auto remote = it->second.waiters.find(id);
  if (remote != it->second.waiters.end()) remote->second.waiter = waiter;
}

void RemoteWaiters::Ended(const std::string& key, uint64_t id) {
  absl::MutexLock lock(&mu_);
  auto it = keys_.find(key);
  if (it == keys_.end()) return;
  it->second.waiters.erase(id);
  if (it->second.waiters.empty()) keys_.erase(it);
}

void RemoteWaiters::Join(const std::string& key) {
  const uint64_t id = Begin(key, [] {});
  const uint64_t waiter = host_.JoinJob(key, clock_() + 2 * config_.lease, [this, key, id] { Ended(key, id); });
  if (waiter == 0) return Ended(key, id);
  Waits(key, id, waiter);
}

void RemoteWaiters::Heard(const std::string& name, bool followed) {
  std::map<uint64_t, Remote> waiters;
  bool forgotten = false;
  {
    absl::MutexLock lock(&mu_);
    auto it = keys_.find(name);
    if (it != keys_.end()) {
      Key& key = it->second;
      key.heard = std::min(key.heard, clock_());
      key.followed |= followed;
      key.silences = followed ? 0 : key.silences + 1;
      // Who has the job run elsewhere needs a while to find out that it does.
      forgotten = key.followed ? key.silences >= config_.silences : clock_() - key.heard >= 2 * config_.lease;
      waiters = key.waiters;
    }
  }
  if (waiters.empty() && followed) return Join(name);
  for (const auto& [id, remote] : waiters) {
    if (remote.waiter == 0) continue;
    if (followed) host_.ExtendWait(remote.waiter, clock_() + 2 * config_.lease);
    if (!forgotten || !host_.LeaveJob(remote.waiter)) continue;
    Ended(name, id);
    remote.left();
  }
}

}  // namespace tritond::server
