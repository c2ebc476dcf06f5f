// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_ROCKSDB_DATABASE_H_
#define CACHE_STORE_ROCKSDB_DATABASE_H_

#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/store/rocksdb_salvage.h"
#include "timing/steady/event.h"

namespace tritond::cache {

// A folder's database, which gets over what happens to it. RocksDB stops writing for good when a compaction meets
// damage. A write that a full disk refuses leaves it in a state that it does not always survive. A thread of this
// object's own then closes and opens it again. After damage it does so with what is sound, which is read meanwhile.
// After a full disk it does so as soon as there is room. Until then writes fail, and what is there is read. A disk that
// is full when the database is opened has it opened for reading alone. Thread-safe.
class RocksdbDatabase final {
 public:
  // Opens the folder with its column families `names`, in order, making what is absent and dropping what is damaged.
  // `log` (may be null) hears of that, on any thread. Unavailable when the folder cannot be used, with the process that
  // has it open if one does. A full disk is no error: see Trouble. Messages begin with `rocksdb at DIR: `.
  static absl::StatusOr<std::unique_ptr<RocksdbDatabase>> Open(const std::string& dir, rocksdb::Options options,
                                                               std::vector<std::string> names,
                                                               std::function<void(const std::string&)> log);
  ~RocksdbDatabase();

  // "rocksdb at DIR"
  const std::string& context() const { return context_; }

  // Why nothing can be written now, for people; "" when it can.
  std::string Trouble() const;

  // Calls `use(db, family)` with the database held in place and returns what it returns. While there is none, an error
  // (NoSpace: the disk was full before one could be made) or nothing.
  template <typename Use>
  auto With(int family, Use use) {
    absl::ReaderMutexLock lock(&mu_);
    using Result = decltype(use(opened_->db(), opened_->family(family)));
    if (opened_ != nullptr) return use(opened_->db(), opened_->family(family));
    if constexpr (std::is_same_v<Result, rocksdb::Status>) {
      return NotOpen();
    } else {
      return Result();
    }
  }

  // The damage that a caller has met, as if a compaction had.
  void ReportDamage(const std::string& what);

 private:
  class Listener;

  RocksdbDatabase(std::string dir, rocksdb::Options options, std::vector<std::string> names,
                  std::function<void(const std::string&)> log);
  absl::Status OpenFirst();
  rocksdb::Status NotOpen() const;
  void MendLoop();
  // False when the database is not open, or not healthy, afterwards.
  bool Mend(const std::string& damage);
  bool OpenAgainLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Opens the folder, for reading alone where the disk is full; Ok too when there is nothing to be read then.
  absl::Status OpenLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status OpenForReadingLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  rocksdb::Status OpenForWritingLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CloseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ok: some more can be written.
  rocksdb::Status Probe() const;
  void SetTrouble(const std::string& why, bool full);
  void Log(const std::string& text) const;

  const std::string dir_, context_;
  const std::vector<std::string> names_;
  const std::function<void(const std::string&)> log_;
  rocksdb::Options options_;
  absl::Mutex mu_;  // Held for reading while the database is used, for writing while it is replaced.
  std::unique_ptr<OpenRocksdb> opened_ ABSL_GUARDED_BY(mu_);
  rocksdb::FileLock* reading_lock_ ABSL_GUARDED_BY(mu_) = nullptr;  // of a folder that is open for reading alone
  mutable absl::Mutex state_mu_;
  bool closing_ ABSL_GUARDED_BY(state_mu_) = false;
  bool full_ ABSL_GUARDED_BY(state_mu_) = false;  // the disk refused a write
  std::string trouble_ ABSL_GUARDED_BY(state_mu_);
  std::string damage_ ABSL_GUARDED_BY(state_mu_);  // what is to be mended
  timing::Event wake_;                             // of the mender: the state has changed
  std::thread mender_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_ROCKSDB_DATABASE_H_
