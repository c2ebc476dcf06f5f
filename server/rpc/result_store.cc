// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/result_store.h"

#include "absl/strings/str_cat.h"

namespace tritond::server {

absl::Status ResultStore::Load(StoredResult* result) {
  uint64_t loaded = 0;
  std::vector<cache::Digest> others;
  for (const v1::Artifact& artifact : result->action.artifacts()) {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(artifact.digest());
    if (!digest.ok()) return digest.status();
    cache::Blob& blob = result->artifacts.emplace_back();
    if (loaded + artifact.size_bytes() > inline_bytes_) {
      others.push_back(*digest);
      continue;
    }
    absl::StatusOr<cache::Blob> bytes = blobs_.Get(*digest);
    if (!bytes.ok()) return bytes.status();
    loaded += bytes->size();
    blob = *std::move(bytes);
  }
  if (others.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<cache::Digest>> missing = blobs_.FindMissing(others);
  if (!missing.ok()) return missing.status();
  return missing->empty() ? absl::OkStatus() : absl::NotFoundError("an artifact is missing");
}

absl::StatusOr<std::shared_ptr<const StoredResult>> ResultStore::Find(const std::string& key) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return digest.status();
  absl::StatusOr<cache::Blob> serialized = results_.Get(*digest);
  if (!serialized.ok()) {
    if (absl::IsDataLoss(serialized.status())) return absl::NotFoundError("the stored result was damaged");
    return serialized.status();
  }
  auto result = std::make_shared<StoredResult>();
  result->serialized = *std::move(serialized);
  if (!result->action.ParseFromArray(result->serialized.data(), static_cast<int>(result->serialized.size()))) {
    return absl::NotFoundError("the stored result was not readable");
  }
  absl::Status loaded = Load(result.get());
  if (!loaded.ok()) return absl::NotFoundError(absl::StrCat("the result of ", key, ": ", loaded.message()));
  return result;
}

absl::StatusOr<std::shared_ptr<const StoredResult>> ResultStore::Keep(const std::string& key,
                                                                      const v1::ActionResult& action,
                                                                      std::vector<std::string> blobs,
                                                                      absl::Status* kept) {
  absl::StatusOr<cache::Digest> key_digest = cache::Digest::FromHex(key);
  if (!key_digest.ok()) return key_digest.status();
  if (static_cast<size_t>(action.artifacts_size()) != blobs.size()) {
    return absl::InternalError("the worker sent another number of artifacts than it named");
  }
  auto result = std::make_shared<StoredResult>();
  *kept = absl::OkStatus();
  for (int i = 0; i < action.artifacts_size(); ++i) {
    cache::Blob blob(std::move(blobs[i]));
    const cache::Digest digest = cache::Digest::Of(blob.bytes());
    if (digest.ToHex() != action.artifacts(i).digest() || blob.size() != action.artifacts(i).size_bytes()) {
      return absl::InternalError("the worker sent an artifact that its digest does not fit");
    }
    kept->Update(blobs_.Put(digest, blob));
    result->artifacts.push_back(std::move(blob));
  }
  result->action = action;
  result->serialized = cache::Blob(action.SerializeAsString());
  if (kept->ok()) kept->Update(results_.Put(*key_digest, result->serialized));
  return result;
}

}  // namespace tritond::server
