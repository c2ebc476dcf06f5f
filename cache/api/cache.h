// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_CACHE_H_
#define CACHE_API_CACHE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/api/blob.h"
#include "cache/api/digest.h"

namespace tritond::cache {

// A map from digests to bytes that may forget any entry at any time. Stores keep entries; wrappers are Caches around
// Caches and own what they wrap. The cache does not know what its entries mean.
//
// Thread-safe. Calls may block on a disk or a network. Every verb may also fail with Unavailable (try again, or do
// without) and with Internal; whatever Get fails with, computing the value anew is right.
class Cache {
 public:
  virtual ~Cache() = default;

  // The value last put under `key`. NotFound when there is none; DataLoss when there was one but its bytes are
  // damaged.
  virtual absl::StatusOr<Blob> Get(const Digest& key) = 0;
  // Stores `value`, which may be empty, in place of any earlier one; a concurrent Get sees one or the other, whole.
  // ResourceExhausted when it does not fit; InvalidArgument when a content-addressed cache is given a wrong key.
  virtual absl::Status Put(const Digest& key, Blob value) = 0;
  // Those of `keys` that a Get would not find now, in the given order; a repeated key is answered each time. Need not
  // read the values, so damage may go unnoticed.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) = 0;
  // Forgets the entry. Ok when it is absent.
  virtual absl::Status Remove(const Digest& key) = 0;
  // The same to make room: caches that others share keep the entry for them.
  virtual absl::Status Release(const Digest& key) { return Remove(key); }
  // The keys of all entries, in any order, each once; entries that come or go meanwhile may be in it or not.
  virtual absl::StatusOr<std::vector<Digest>> List() = 0;
  // Forgets all entries; entries that come meanwhile may stay. How many it forgot; the first error, after trying all.
  virtual absl::StatusOr<uint64_t> RemoveAll() {
    const absl::StatusOr<std::vector<Digest>> keys = List();
    if (!keys.ok()) return keys.status();
    absl::Status status;
    for (const Digest& key : *keys) status.Update(Remove(key));
    if (!status.ok()) return status;
    return keys->size();
  }
};

}  // namespace tritond::cache

#endif  // CACHE_API_CACHE_H_
