// SPDX-License-Identifier: Apache-2.0
#include "server/results/error_memory.h"

namespace tritond::server {

void ErrorMemory::Remember(const std::string& key, absl::Status error) {
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  entries_[key] = {std::move(error), now + lifetime_};
  by_age_.emplace_back(now + lifetime_, key);
  while (!by_age_.empty() && (by_age_.front().first <= now || by_age_.size() > max_entries_)) {
    // A key that was remembered again since has a later entry of its own.
    auto it = entries_.find(by_age_.front().second);
    if (it != entries_.end() && it->second.until == by_age_.front().first) entries_.erase(it);
    by_age_.pop_front();
  }
}

std::optional<absl::Status> ErrorMemory::Find(const std::string& key) {
  absl::MutexLock lock(&mu_);
  auto it = entries_.find(key);
  if (it == entries_.end() || it->second.until <= clock_()) return std::nullopt;
  return it->second.error;
}

void ErrorMemory::Forget(const std::string& key) {
  absl::MutexLock lock(&mu_);
  entries_.erase(key);
}

void ErrorMemory::ForgetAll() {
  absl::MutexLock lock(&mu_);
  entries_.clear();
  by_age_.clear();
}

}  // namespace tritond::server
