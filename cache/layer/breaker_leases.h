// SPDX-License-Identifier: Apache-2.0
// Leases and job streams of an engine that may be away, behind the circuit breaker that its caches have too.
#ifndef CACHE_LAYER_BREAKER_LEASES_H_
#define CACHE_LAYER_BREAKER_LEASES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/api/job_stream.h"
#include "cache/api/lease_table.h"
#include "cache/layer/circuit_breaker.h"

namespace tritond::cache {

// Owns what it wraps.
class BreakerLeases final : public LeaseTable {
 public:
  BreakerLeases(std::unique_ptr<LeaseTable> next, std::shared_ptr<CircuitBreaker> breaker)
      : next_(std::move(next)), breaker_(std::move(breaker)) {}

  absl::StatusOr<Answer> Ask(const Digest& key, const std::string& owner, absl::Duration lifetime,
                             const Wish& wish) override {
    return breaker_->Guard([&] { return next_->Ask(key, owner, lifetime, wish); });
  }
  absl::StatusOr<bool> Renew(const Lease& lease, absl::Duration lifetime) override {
    return breaker_->Guard([&] { return next_->Renew(lease, lifetime); });
  }
  absl::Status Release(const Lease& lease) override {
    return breaker_->Guard([&] { return next_->Release(lease); });
  }
  absl::StatusOr<bool> Publish(const Lease& lease, Blob value) override {
    return breaker_->Guard([&] { return next_->Publish(lease, std::move(value)); });
  }
  absl::StatusOr<bool> PublishError(const Lease& lease, const std::string& error, absl::Duration lifetime) override {
    return breaker_->Guard([&] { return next_->PublishError(lease, error, lifetime); });
  }
  absl::Status ForgetError(const Digest& key) override {
    return breaker_->Guard([&] { return next_->ForgetError(key); });
  }

 private:
  const std::unique_ptr<LeaseTable> next_;
  const std::shared_ptr<CircuitBreaker> breaker_;
};

// Owns what it wraps.
class BreakerStreams final : public JobStream {
 public:
  BreakerStreams(std::unique_ptr<JobStream> next, std::shared_ptr<CircuitBreaker> breaker)
      : next_(std::move(next)), breaker_(std::move(breaker)) {}

  absl::StatusOr<std::string> Add(const StreamEntry& entry) override {
    return breaker_->Guard([&] { return next_->Add(entry); });
  }
  absl::Status Remove(const StreamName& stream, const std::string& id) override {
    return breaker_->Guard([&] { return next_->Remove(stream, id); });
  }
  absl::StatusOr<std::vector<StreamEntry>> Take(absl::Span<const StreamName> streams, const std::string& taker,
                                                int count) override {
    return breaker_->Guard([&] { return next_->Take(streams, taker, count); });
  }
  absl::StatusOr<std::vector<StreamEntry>> TakeOver(const StreamName& stream, const std::string& taker,
                                                    absl::Duration idle, int count) override {
    return breaker_->Guard([&] { return next_->TakeOver(stream, taker, idle, count); });
  }

 private:
  const std::unique_ptr<JobStream> next_;
  const std::shared_ptr<CircuitBreaker> breaker_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_BREAKER_LEASES_H_
