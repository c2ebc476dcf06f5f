// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RETENTION_RESULT_INDEX_H_
#define SERVER_RETENTION_RESULT_INDEX_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/digest.h"

namespace tritond::server {

// Something stored once under a digest, however many results name it.
struct StoredPiece {
  cache::Digest digest;
  uint64_t size_bytes = 0;
};

// A result with what it names.
struct IndexedResult {
  cache::Digest key;
  uint64_t size_bytes = 0;  // of the record itself, with what it takes to keep it
  std::vector<StoredPiece> pieces;
  double cost_cpu_seconds = 0;  // to make it again
  bool derived = false;         // another name or a part of a result, not one that was asked for
  // Of a result that was asked for: what it is for, the compiler build that made it, and when. Empty: not known.
  std::string target = {}, build_id = {};
  absl::Time created = absl::InfinitePast();
};

// What is to be removed from the caches.
struct Removal {
  std::vector<cache::Digest> keys;
  std::vector<cache::Digest> digests;  // pieces that no result names any more
  size_t asked_for = 0;                // of the keys, those that are not of derived results
};

// Which results are stored, which pieces they share, and which of them are worth least. Results are valued by
// GreedyDual-Size-Frequency (Cherkasova, 1998): uses times cost to rebuild, over bytes, plus the value of the last one
// that was evicted. So a result that is not used any more loses against new ones. Takes about half a kilobyte of memory
// for a result with two pieces. Knows nothing of where they are stored. Thread-safe.
class ResultIndex final {
 public:
  // In place of an earlier result of the same key. What that one alone named is returned for removal.
  Removal Add(const IndexedResult& result);
  // The result was used; nothing when it is not there.
  void Touch(const cache::Digest& key);
  // Takes these results out; unknown keys are left out of the answer.
  Removal Remove(const std::vector<cache::Digest>& keys);
  Removal RemoveAll();
  // Takes out the least valuable results until at most `limit_bytes` are stored. With `spare_latest` those stay whose
  // callers may be about to fetch what they name. These are the last one that was asked for with all that came after
  // it, however large. Of the others that came lately, as many stay as an eighth of the limit holds.
  Removal Shrink(uint64_t limit_bytes, bool spare_latest = false);

  // Whether a result names this piece.
  bool Names(const cache::Digest& digest) const;
  uint64_t size_bytes() const;
  size_t size() const;
  size_t asked_for() const;  // of them, those that are not derived
  // Pieces of results asked for that another result had brought already, since the start.
  uint64_t deduplicated() const;
  std::vector<cache::Digest> Keys() const;  // sorted
  // The first `limit` keys whose hexadecimal form begins with `prefix`, sorted; derived results are left out. Looks at
  // every key.
  std::vector<std::string> KeysWithPrefix(absl::string_view prefix, size_t limit) const;

  // The compiler builds that made results of the target. The build of the newest result comes first.
  std::vector<std::string> Builds(absl::string_view target) const;
  // The targets that have such builds, sorted.
  std::vector<std::string> Targets() const;

 private:
  // The results of one build for one target.
  struct Build {
    size_t results = 0;
    absl::Time newest = absl::InfinitePast();  // of those that are stored, or were
  };
  using BuildMap = std::map<std::pair<std::string, std::string>, Build>;  // by target and build id
  struct Entry {
    std::vector<cache::Digest> pieces;
    uint64_t size_bytes = 0;  // of the record itself
    double worth = 0;         // of a use: cost over bytes, those of the pieces included
    bool derived = false;
    double value = 0;   // as of the last use
    double queued = 0;  // the value it stands in `order_` with
    double uses = 1;
    BuildMap::iterator build;  // the end: not known
  };
  struct Piece {
    uint64_t size_bytes = 0;
    int results = 0;  // that name it
  };

  double ValueOf(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::flat_hash_set<cache::Digest> LatestLocked(uint64_t limit_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveLocked(const cache::Digest& key, Removal* removal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  absl::flat_hash_map<cache::Digest, Entry> entries_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<cache::Digest, Piece> pieces_ ABSL_GUARDED_BY(mu_);
  std::set<std::pair<double, cache::Digest>> order_ ABSL_GUARDED_BY(mu_);  // by value; uses since are not in it yet
  std::deque<cache::Digest> latest_ ABSL_GUARDED_BY(mu_);                  // as they came; some may have gone
  double inflation_ ABSL_GUARDED_BY(mu_) = 0;                              // the value of the last one evicted
  uint64_t size_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  size_t derived_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t deduplicated_ ABSL_GUARDED_BY(mu_) = 0;
  BuildMap builds_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_RETENTION_RESULT_INDEX_H_
