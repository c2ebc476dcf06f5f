// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/breaker_cache.h"

#include <algorithm>
#include <utility>

namespace tritond::cache {
namespace {

absl::Status Open() { return absl::UnavailableError("it did not answer before, and is left alone for a while"); }

bool IsAway(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }

}  // namespace

BreakerCache::BreakerCache(std::unique_ptr<Cache> next, Config config, Clock clock)
    : next_(std::move(next)), config_(config), clock_(std::move(clock)), pause_(config.first_pause) {}

bool BreakerCache::closed() const {
  absl::MutexLock lock(&mu_);
  return failures_ < config_.failures;
}

bool BreakerCache::Admit() {
  absl::MutexLock lock(&mu_);
  if (failures_ < config_.failures) return true;
  if (trying_ || clock_() < until_) return false;
  trying_ = true;
  return true;
}

void BreakerCache::Record(const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  if (!IsAway(status)) {
    failures_ = 0;
    trying_ = false;
    pause_ = config_.first_pause;
    return;
  }
  const bool tried = std::exchange(trying_, false);
  if (++failures_ < config_.failures) return;
  if (tried) pause_ = std::min(pause_ * 2, config_.longest_pause);
  until_ = clock_() + pause_;
}

absl::StatusOr<Blob> BreakerCache::Get(const Digest& key) {
  if (!Admit()) return Open();
  absl::StatusOr<Blob> value = next_->Get(key);
  Record(value.status());
  return value;
}

absl::Status BreakerCache::Put(const Digest& key, Blob value) {
  if (!Admit()) return Open();
  absl::Status status = next_->Put(key, std::move(value));
  Record(status);
  return status;
}

absl::StatusOr<std::vector<Digest>> BreakerCache::FindMissing(absl::Span<const Digest> keys) {
  if (!Admit()) return Open();
  absl::StatusOr<std::vector<Digest>> missing = next_->FindMissing(keys);
  Record(missing.status());
  return missing;
}

absl::Status BreakerCache::Remove(const Digest& key) {
  if (!Admit()) return Open();
  absl::Status status = next_->Remove(key);
  Record(status);
  return status;
}

absl::StatusOr<std::vector<Digest>> BreakerCache::List() {
  if (!Admit()) return Open();
  absl::StatusOr<std::vector<Digest>> keys = next_->List();
  Record(keys.status());
  return keys;
}

}  // namespace tritond::cache
