// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_VALUE_STORE_H_
#define SERVER_REDIS_VALUE_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/blob.h"
#include "cache/api/cache.h"
#include "server/redis/tenant_index.h"

namespace tritond::server {

// What clients store by themselves: values under keys of their choice, some of them for a while. They lie in caches of
// their own and never mix with results of compiles. Each entry is a value, and a small record that tells its size and
// when it ends; an entry counts when both are there. Beyond a limit of bytes, of a tenant's or of all, the entries go
// that are used least (TenantIndex). Like any cache it may forget an entry at any time. Thread-safe; calls may block on
// a disk. Does not own the caches.
class ValueStore final {
 public:
  // What an entry counts besides its value, in bytes: what records and index take, generously.
  static constexpr uint64_t kBytesBesideValue = 4 << 10;

  struct Entry {
    uint64_t size_bytes = 0;                      // of the value
    absl::Time expires = absl::InfiniteFuture();  // by the wall clock
    std::string tenant;
  };
  // When a Put stores its value.
  enum class Condition { kAlways, kIfAbsent, kIfPresent };

  // `wall_clock` tells when entries end.
  ValueStore(cache::Cache& records, cache::Cache& values, TenantIndex::Limits limits,
             std::function<absl::Time()> wall_clock)
      : records_(records), values_(values), index_(limits), wall_clock_(std::move(wall_clock)) {}

  // Under what a tenant's key is stored: other tenants' keys never share it.
  static cache::Digest KeyOf(absl::string_view tenant, absl::string_view key);

  // Takes stock of what an earlier run left; before that nothing of it is evicted. Errors are the cache's.
  absl::Status TakeStock();

  // NotFound when there is no entry, or it has ended. Other errors as the cache has them.
  absl::StatusOr<Entry> Find(const cache::Digest& key);
  // The value of an entry that Find has just found. NotFound when it has gone since or was damaged; other errors as the
  // cache has them.
  absl::StatusOr<cache::Blob> Get(const cache::Digest& key);
  // Stores a value of `tenant`'s, whose key it is, in place of any earlier one, for `lifetime`. False when the
  // condition does not hold. Errors are the cache's: then the key has no value, or the one from before.
  absl::StatusOr<bool> Put(const std::string& tenant, const cache::Digest& key, cache::Blob value,
                           absl::Duration lifetime, Condition condition);
  // Whether there was an entry. Errors are the cache's.
  absl::StatusOr<bool> Remove(const cache::Digest& key);

  size_t size() const { return index_.size(); }
  // Of all entries, kBytesBesideValue for each included.
  uint64_t size_bytes() const { return index_.size_bytes(); }

 private:
  absl::Mutex& LockOf(const cache::Digest& key) { return locks_[key.bytes()[0] % locks_.size()]; }
  // Find, without consequences: DataLoss for an entry that has ended or whose record cannot be read.
  absl::StatusOr<Entry> Look(const cache::Digest& key);
  // Whether record and value are there and count.
  absl::StatusOr<bool> IsThere(const cache::Digest& key);
  // The caller holds the key's lock.
  absl::Status Drop(const cache::Digest& key);
  // The entry was found to be over or incomplete: drops it, unless it is sound by now.
  void DropIfUseless(const cache::Digest& key);
  void MakeRoom();

  cache::Cache& records_;
  cache::Cache& values_;
  TenantIndex index_;  // An entry names one piece: its key.
  const std::function<absl::Time()> wall_clock_;
  // Whoever changes an entry holds the lock of its key, so that record, value and index agree. Readers take none.
  std::array<absl::Mutex, 64> locks_;
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_VALUE_STORE_H_
