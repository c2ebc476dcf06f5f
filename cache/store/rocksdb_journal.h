// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_ROCKSDB_JOURNAL_H_
#define CACHE_STORE_ROCKSDB_JOURNAL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cache/api/journal.h"

namespace rocksdb {
class Env;
}

namespace tritond::cache {

class RocksdbDatabase;

// A Journal in an embedded RocksDB database of its own. Every write is in the log on disk before it returns.
class RocksdbJournal final : public Journal {
 public:
  // Opens the database in the folder `dir`, making both when absent. `env` is the file system to live in and must
  // outlive the journal; null: the real one. Damaged records are dropped, and `log` (may be null) hears of it. Below
  // zero, `open_files` is as many as there are. Unavailable when the folder cannot be used, with the process that has
  // it open if one does. On a full disk the journal is there to be read, see Trouble. Messages begin with
  // `journal at DIR: `.
  using Log = std::function<void(const std::string&)>;
  static absl::StatusOr<std::unique_ptr<RocksdbJournal>> Open(const std::string& dir, rocksdb::Env* env = nullptr,
                                                              const Log& log = nullptr, int open_files = -1);
  ~RocksdbJournal() override;

  absl::Status Put(absl::string_view name, absl::string_view value) override;
  absl::Status Remove(absl::string_view name) override;
  absl::StatusOr<std::string> Get(absl::string_view name) override;
  std::string Trouble() const override;
  absl::Status Visit(absl::string_view prefix, const Visitor& visitor) override;

 private:
  RocksdbJournal(std::string context, std::unique_ptr<RocksdbDatabase> db);

  const std::string context_;  // "journal at DIR"
  const std::unique_ptr<RocksdbDatabase> db_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_ROCKSDB_JOURNAL_H_
