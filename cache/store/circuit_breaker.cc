// SPDX-License-Identifier: Apache-2.0
#include "cache/store/circuit_breaker.h"

#include <algorithm>
#include <utility>

namespace tritond::cache {
namespace {

bool IsAway(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }

}  // namespace

CircuitBreaker::CircuitBreaker(Config config, Clock clock)
    : config_(config), clock_(std::move(clock)), pause_(config.first_pause) {}

absl::Status CircuitBreaker::Open() {
  return absl::UnavailableError("it did not answer before, and is left alone for a while");
}

bool CircuitBreaker::closed() const {
  absl::MutexLock lock(&mu_);
  return failures_ < config_.failures;
}

bool CircuitBreaker::Admit() {
  absl::MutexLock lock(&mu_);
  if (failures_ < config_.failures) return true;
  if (trying_ || clock_() < until_) return false;
  trying_ = true;
  return true;
}

void CircuitBreaker::Record(const absl::Status& status) {
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

}  // namespace tritond::cache
