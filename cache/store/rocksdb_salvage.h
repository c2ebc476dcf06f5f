// SPDX-License-Identifier: Apache-2.0
// What the database-backed stores share. They open a folder with all its column families, and read what they can from a
// folder with damaged files.
#ifndef CACHE_STORE_ROCKSDB_SALVAGE_H_
#define CACHE_STORE_ROCKSDB_SALVAGE_H_

#include <rocksdb/db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tritond::cache {

// RocksDB's own log file goes through a writer that may end the process. In a build with assertions it does so at the
// second write after a full disk has refused one. What it says matters to nobody here, so it says nothing.
std::shared_ptr<rocksdb::Logger> SilentLog();

// An open database with its column families; closes with this object.
class OpenRocksdb final {
 public:
  // Opens the folder, making what is absent. The families are `names`, in order, then the others that are there.
  static rocksdb::Status Open(const rocksdb::Options& options, const std::string& dir,
                              absl::Span<const std::string> names, std::unique_ptr<OpenRocksdb>* opened);
  // The same of a folder that nothing can be written to now: reads only, and makes nothing.
  static rocksdb::Status OpenReadOnly(const rocksdb::Options& options, const std::string& dir,
                                      absl::Span<const std::string> names, std::unique_ptr<OpenRocksdb>* opened);
  ~OpenRocksdb();

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* family(size_t index) const { return families_[index]; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

 private:
  static std::vector<rocksdb::ColumnFamilyDescriptor> FamiliesAt(const rocksdb::Options& options,
                                                                 const std::string& dir,
                                                                 absl::Span<const std::string> names);
  explicit OpenRocksdb(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}

  const std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

// Whether a failure to open says that files are damaged.
bool MeansDamage(const rocksdb::Status& status);

struct Salvage {
  uint64_t kept = 0;     // records
  uint64_t damaged = 0;  // records, or places where an unknown number of them lay
  std::string ToString() const;
};

// Copies every record of `from` that can be read and is sound into a new database at `to`, which must not exist. Others
// may read `from` meanwhile. ResourceExhausted when the disk is full; then, and on any other error, `to` is removed.
absl::StatusOr<Salvage> CopySound(const OpenRocksdb& from, const rocksdb::Options& options, const std::string& to);

// Puts the database at `by` in the place of the one at `dir`, which is removed. When there is none at `by`, it is
// removed all the same. Nobody has either open. A crash on the way is made good by FinishReplacement, which every
// opening calls first, and RemoveLeftovers, which it calls once it holds the lock.
absl::Status ReplaceRocksdb(const std::string& dir, const std::string& by);
void FinishReplacement(const std::string& dir);
void RemoveLeftovers(const std::string& dir);

// Replaces the damaged database at `dir`, which nobody has open, by one with what of it is sound. When nothing can be
// read at all, its files stay in `DIR.damaged` and an empty one takes their place.
absl::StatusOr<Salvage> SalvageRocksdb(const rocksdb::Options& options, const std::string& dir,
                                       absl::Span<const std::string> names);

// Where the replacement of the database at `dir` is made.
std::string ReplacementOf(const std::string& dir);

}  // namespace tritond::cache

#endif  // CACHE_STORE_ROCKSDB_SALVAGE_H_
