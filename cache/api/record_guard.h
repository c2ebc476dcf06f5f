// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_RECORD_GUARD_H_
#define CACHE_API_RECORD_GUARD_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cache/api/digest.h"

namespace tritond::cache {

// Decides whether a stored record counts under the key that it is asked for. Records carry what that takes; the cache
// does not know what it is. Thread-safe; does not block.
class RecordGuard {
 public:
  virtual ~RecordGuard() = default;

  // DataLoss: the record is damaged, forged or somebody else's, and of no use to anybody. NotFound: it does not count
  // here and now, though it may for another daemon or later.
  virtual absl::Status Check(const Digest& key, absl::string_view record) = 0;
};

}  // namespace tritond::cache

#endif  // CACHE_API_RECORD_GUARD_H_
