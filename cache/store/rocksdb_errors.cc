// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_errors.h"

#include <fcntl.h>
#include <rocksdb/status.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// Who has the database open, for the message. RocksDB locks the file LOCK with fcntl, which can say who holds it.
// Closing any descriptor of a file drops all of a process's own fcntl locks on it. So this must not look when the
// holder may be this process. RocksDB knows that case and says so.
std::string LockHolder(const std::string& dir, const rocksdb::Status& status) {
  const std::string message = status.ToString();
  if (absl::StrContains(message, "lock hold by current process")) return "this process";
  if (!absl::StrContains(message, "lock file")) return "";
  const int fd = ::open(absl::StrCat(dir, "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return "";
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool known = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  if (!known) return "";
  return lock.l_pid > 0 ? absl::StrCat("pid ", lock.l_pid) : "a process on another machine or in another container";
}

}  // namespace

bool MeansFullDisk(const rocksdb::Status& status) {
  if (!status.IsIOError()) return false;
  if (status.subcode() == rocksdb::Status::kNoSpace || status.subcode() == rocksdb::Status::kSpaceLimit) return true;
  // RocksDB has no word for a quota.
  return absl::StrContains(status.ToString(), strerror(EDQUOT));
}

absl::Status FromRocksdb(const rocksdb::Status& status, const std::string& context) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(context, ": ", status.ToString());
  if (MeansFullDisk(status)) return absl::ResourceExhaustedError(message);
  switch (status.code()) {
    case rocksdb::Status::kNotFound:
      return absl::NotFoundError(message);
    case rocksdb::Status::kCorruption:
      return absl::DataLossError(message);
    case rocksdb::Status::kIOError:
      return absl::UnavailableError(message);
    case rocksdb::Status::kNotSupported:  // It is open for reading alone, as the disk was full.
      return absl::ResourceExhaustedError(message);
    case rocksdb::Status::kAborted:
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kIncomplete:
    case rocksdb::Status::kShutdownInProgress:
    case rocksdb::Status::kTimedOut:
    case rocksdb::Status::kTryAgain:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::Status RocksdbOpenError(const std::string& dir, const rocksdb::Status& status) {
  const std::string context = absl::StrCat("rocksdb at ", dir);
  const std::string holder = LockHolder(dir, status);
  if (!holder.empty()) return absl::UnavailableError(absl::StrCat(context, ": lock held by ", holder));
  absl::Status error = FromRocksdb(status, context);
  if (!absl::IsDataLoss(error)) return error;
  return absl::DataLossError(absl::StrCat(error.message(), "; move the folder away to start with an empty one"));
}

}  // namespace tritond::cache
