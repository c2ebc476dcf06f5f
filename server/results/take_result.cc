// SPDX-License-Identifier: Apache-2.0
#include "server/results/take_result.h"

#include <utility>

namespace tritond::server {

absl::StatusOr<FreshResult> TakeResult(v1::BundleRecord record) {
  const absl::StatusOr<cache::Digest> key = cache::Digest::FromHex(record.key());
  if (!key.ok()) return key.status();
  StoredResult result;
  absl::Status read = ReadResult(*key, cache::Blob(std::move(*record.mutable_signed_result())), &result);
  if (!read.ok()) return read;
  FreshResult fresh;
  fresh.record = std::move(result.record);
  fresh.action = std::move(result.action);
  const int artifacts = fresh.action.artifacts_size();
  for (int i = 0; i < artifacts; ++i) fresh.artifacts.emplace_back(std::move(*record.mutable_blobs(i)->mutable_data()));
  fresh.request = cache::Blob(std::move(*record.mutable_blobs(artifacts)->mutable_data()));
  return fresh;
}

}  // namespace tritond::server
