// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_ROCKSDB_STORE_H_
#define CACHE_STORE_ROCKSDB_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/api/cache.h"
#include "cache/api/stats.h"

namespace rocksdb {
class Env;
}

namespace tritond::cache {

class RocksdbDatabase;

struct RocksdbOptions {
  // Put and Remove return only when the disk has them. Without it they survive the process, not the machine.
  bool sync_writes = false;
  // Most files that are open at once; below zero: all.
  int open_files = -1;
  // The file system to live in; null: the real one. Must outlive the stores.
  rocksdb::Env* env = nullptr;
  // Hears of damage, and of what was saved from it. May be null; from any thread.
  std::function<void(const std::string&)> log;
};

// Keeps entries on disk, in one keyspace of an embedded RocksDB database. The keyspaces of a folder share its files,
// its write-ahead log and its lock. A write is in the log, whole, before Put returns: after a crash each entry is
// there as it was put, or not at all. Large values lie in blob files, so compaction does not copy them.
//
// Get checks RocksDB's checksums, and DataLoss is what they found. Wrap the store in a VerifiedCache or SealedCache,
// which check end to end and remove what is damaged. Damage that keeps the database from opening, or from writing,
// costs the entries that it hit. The others go into a new database in its place (rocksdb_salvage.h), in the background
// while this one is read. Until then Put fails. A full disk is ResourceExhausted until there is space again; other
// trouble with the disk is Unavailable.
class RocksdbStore final : public Cache {
 public:
  // Opens the database in the folder `dir`, making both when absent, and returns one store for each of `keyspaces`,
  // in order. Keyspaces found on disk and not named are kept. The database closes with its last store.
  // Unavailable when the folder cannot be used, with the process that has it open if one does. On a full disk the
  // stores are there to be read; see Trouble. Messages begin with `rocksdb at DIR: `.
  static absl::StatusOr<std::vector<std::unique_ptr<RocksdbStore>>> Open(const std::string& dir,
                                                                         absl::Span<const std::string> keyspaces,
                                                                         const RocksdbOptions& options);
  ~RocksdbStore() override;

  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  // Reads values, for RocksDB cannot tell otherwise, so a damaged entry counts as missing.
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  // Reads the values that lie in blob files on its way.
  absl::StatusOr<std::vector<Digest>> List() override;

  // Why nothing can be written now; "" when it can.
  std::string Trouble() const;
  // RocksDB's estimates, which lag behind removals and overwrites until compaction.
  StoreStats Stats() const;

 private:
  RocksdbStore(std::shared_ptr<RocksdbDatabase> database, bool sync_writes, int keyspace);

  const std::shared_ptr<RocksdbDatabase> database_;  // Shared by the stores of one folder; the last one closes it.
  const bool sync_writes_;
  const int keyspace_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_ROCKSDB_STORE_H_
