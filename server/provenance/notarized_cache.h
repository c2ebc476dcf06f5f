// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_PROVENANCE_NOTARIZED_CACHE_H_
#define SERVER_PROVENANCE_NOTARIZED_CACHE_H_

#include <vector>

#include "cache/api/cache.h"
#include "server/provenance/notary.h"

namespace tritond::server {

// A cache of plain values over one of signed records. It signs what is put, and gives out only what a trusted daemon
// has signed for the key and this purpose. For small values that are read now and then: each Get verifies. Thread-safe.
// Borrows both.
class NotarizedCache final : public cache::Cache {
 public:
  NotarizedCache(cache::Cache& records, Notary& notary, Purpose purpose)
      : records_(records), notary_(notary), purpose_(purpose) {}

  // NotFound when there is a record that does not count.
  absl::StatusOr<cache::Blob> Get(const cache::Digest& key) override;
  absl::Status Put(const cache::Digest& key, cache::Blob value) override;
  // Does not read the records: one that Get refuses counts as present.
  absl::StatusOr<std::vector<cache::Digest>> FindMissing(absl::Span<const cache::Digest> keys) override {
    return records_.FindMissing(keys);
  }
  absl::Status Remove(const cache::Digest& key) override { return records_.Remove(key); }
  absl::Status Release(const cache::Digest& key) override { return records_.Release(key); }
  absl::StatusOr<std::vector<cache::Digest>> List() override { return records_.List(); }
  absl::StatusOr<uint64_t> RemoveAll() override { return records_.RemoveAll(); }

 private:
  cache::Cache& records_;
  Notary& notary_;
  const Purpose purpose_;
};

}  // namespace tritond::server

#endif  // SERVER_PROVENANCE_NOTARIZED_CACHE_H_
