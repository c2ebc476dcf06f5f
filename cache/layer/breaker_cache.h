// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_BREAKER_CACHE_H_
#define CACHE_LAYER_BREAKER_CACHE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/cache.h"

namespace tritond::cache {

// A circuit breaker around a cache that may be away: after a few failures in a row (Unavailable, DeadlineExceeded) it
// is not asked for a while, and every call fails with Unavailable at once. Then one call tries it: success closes the
// circuit, failure doubles the while, up to a bound. Owns what it wraps.
class BreakerCache final : public Cache {
 public:
  struct Config {
    int failures = 2;
    absl::Duration first_pause = absl::Seconds(1);
    absl::Duration longest_pause = absl::Seconds(30);
  };
  // The time since some fixed moment, never running backwards; called from any thread.
  using Clock = std::function<absl::Duration()>;

  BreakerCache(std::unique_ptr<Cache> next, Config config, Clock clock);

  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;

  // Whether calls go through: false from the last failure until a success.
  bool closed() const;

 private:
  // Whether a call may go through now.
  bool Admit();
  void Record(const absl::Status& status);

  const std::unique_ptr<Cache> next_;
  const Config config_;
  const Clock clock_;
  mutable absl::Mutex mu_;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;  // in a row
  bool trying_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration pause_ ABSL_GUARDED_BY(mu_);
  absl::Duration until_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_BREAKER_CACHE_H_
