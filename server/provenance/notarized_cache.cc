// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/notarized_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {

absl::StatusOr<cache::Blob> NotarizedCache::Get(const cache::Digest& key) {
  absl::StatusOr<cache::Blob> record = records_.Get(key);
  if (!record.ok()) return record;
  const Notary::Answer read = notary_.Read(Origin::kEngine, {purpose_, key}, record->bytes());
  if (read.refusal.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("the record of ", key.ToHex(), " is refused: ", RefusalName(*read.refusal)));
  }
  const absl::string_view payload = read.record.payload;
  return record->Slice(payload.data() - record->data(), payload.size());
}

absl::Status NotarizedCache::Put(const cache::Digest& key, cache::Blob value) {
  return records_.Put(key, cache::Blob(notary_.Sign(purpose_, key, value.bytes())));
}

}  // namespace tritond::server
