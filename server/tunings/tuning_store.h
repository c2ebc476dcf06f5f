// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_TUNINGS_TUNING_STORE_H_
#define SERVER_TUNINGS_TUNING_STORE_H_

#include <cstddef>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cache/api/cache.h"
#include "proto/v1/autotune.pb.h"

namespace tritond::server {

// Tunings by their digests: the only place that reads and writes their records. Keeps at most `most`; the oldest that
// this daemon keeps go first. Thread-safe; calls may block on a disk or a network. Does not own the cache.
class TuningStore final {
 public:
  TuningStore(cache::Cache& records, size_t most) : records_(records), most_(most) {}

  // Takes stock of what an earlier run left; before that nothing of it goes. Errors are the cache's.
  absl::Status TakeStock();
  // Nothing when there is none that can be read and believed.
  std::optional<v1::ProgramTuning> Find(const cache::Digest& key);
  // Errors are the cache's.
  absl::Status Keep(const cache::Digest& key, const v1::ProgramTuning& tuning);
  // Forgets all, those of the cluster too. Errors are the cache's.
  absl::Status ForgetAll();

  size_t size() const;

 private:
  // Counts the entry; what has to go for it.
  std::optional<cache::Digest> Count(const cache::Digest& key);

  cache::Cache& records_;
  const size_t most_;
  mutable absl::Mutex mu_;
  std::deque<cache::Digest> oldest_first_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<cache::Digest> counted_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_STORE_H_
