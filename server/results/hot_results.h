// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_HOT_RESULTS_H_
#define SERVER_RESULTS_HOT_RESULTS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

struct StoredResult;

// The results that were found lately, parsed and with their artifacts, so that the next hit need not put them together
// from the caches. Bounded in bytes, which the memory cache counts too as long as it holds them; what was not used
// longest goes first. Thread-safe.
class HotResults final {
 public:
  using Result = std::shared_ptr<const StoredResult>;  // Shared with callers, who may outlast its stay.

  explicit HotResults(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Null when it is not here; then `ticket` is for AddFound.
  Result Find(absl::string_view key, uint64_t* ticket);
  // What the caches had after that Find. Dropped when anything was added or forgotten since: it may be out of date.
  void AddFound(const std::string& key, Result result, uint64_t ticket);
  // In place of an earlier result of the key; one that is larger than a quarter of the capacity is not taken.
  void Add(const std::string& key, Result result);
  // After the caches have.
  void Forget(absl::string_view key);
  void ForgetAll();

 private:
  struct Entry {
    std::string key;
    Result result;
    uint64_t size_bytes = 0;
  };
  using Entries = std::list<Entry>;

  void AddLocked(const std::string& key, Result result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveLocked(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t capacity_bytes_;
  absl::Mutex mu_;
  Entries latest_first_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<absl::string_view, Entries::iterator> by_key_ ABSL_GUARDED_BY(mu_);  // keys lie in the entries
  uint64_t size_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;  // by Add and Forget
};

}  // namespace tritond::server

#endif  // SERVER_RESULTS_HOT_RESULTS_H_
