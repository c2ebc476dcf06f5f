// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_ERROR_MEMORY_H_
#define SERVER_RESULTS_ERROR_MEMORY_H_

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Deterministic compile errors by request key, for a short while and up to a number. A request that is repeated at once
// need not compile again, and a fixed compiler may soon try. Thread-safe.
class ErrorMemory final {
 public:
  ErrorMemory(absl::Duration lifetime, size_t max_entries, Clock clock)
      : lifetime_(lifetime), max_entries_(max_entries), clock_(std::move(clock)) {}

  void Remember(const std::string& key, absl::Status error);
  std::optional<absl::Status> Find(const std::string& key);
  void Forget(const std::string& key);
  void ForgetAll();

 private:
  struct Entry {
    absl::Status error;
    absl::Time until;
  };

  const absl::Duration lifetime_;
  const size_t max_entries_;
  const Clock clock_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<absl::Time, std::string>> by_age_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_RESULTS_ERROR_MEMORY_H_
