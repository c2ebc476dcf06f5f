// SPDX-License-Identifier: Apache-2.0
// The one border between RocksDB's errors and ours.
#ifndef CACHE_STORE_ROCKSDB_ERRORS_H_
#define CACHE_STORE_ROCKSDB_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace rocksdb {
class Status;
}

namespace tritond::cache {

// Whether a write found no room: no free blocks, or none within the quota.
bool MeansFullDisk(const rocksdb::Status& status);

// Begins messages with `context`. NotFound, DataLoss (corruption), ResourceExhausted (no space, or open for reading
// alone for want of it), Unavailable (other trouble with the disk, or try again), Internal.
absl::Status FromRocksdb(const rocksdb::Status& status, const std::string& context);

// Why the database in `dir` could not be opened, naming the process that has it open if one does.
absl::Status RocksdbOpenError(const std::string& dir, const rocksdb::Status& status);

}  // namespace tritond::cache

#endif  // CACHE_STORE_ROCKSDB_ERRORS_H_
