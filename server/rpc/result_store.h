// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_RESULT_STORE_H_
#define SERVER_RPC_RESULT_STORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/api/blob.h"
#include "cache/api/cache.h"
#include "proto/v1/compile.pb.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// A result with its artifacts, immutable, shared by everyone who is sent it.
struct StoredResult final : Payload {
  cache::Blob serialized;  // of `action`
  v1::ActionResult action;
  std::vector<cache::Blob> artifacts;  // as action.artifacts; empty where not loaded
};

// Action results by request key, artifact bytes by digest. Thread-safe. Owns neither cache.
class ResultStore final {
 public:
  // Artifacts up to `inline_bytes` in sum are loaded with their result; the others are only looked for.
  ResultStore(cache::Cache& results, cache::Cache& blobs, uint64_t inline_bytes)
      : results_(results), blobs_(blobs), inline_bytes_(inline_bytes) {}

  // NotFound when there is no result, or one of its artifacts is missing or damaged: then it must be made anew.
  // InvalidArgument for a key that is not 64 hexadecimal digits. Other errors as the caches have them.
  absl::StatusOr<std::shared_ptr<const StoredResult>> Find(const std::string& key);

  // Keeps a result, artifacts first, so that a result never names what is not there. The returned result is good even
  // when keeping it failed: then `kept` says why. Internal when `blobs` do not fit what `action` says.
  absl::StatusOr<std::shared_ptr<const StoredResult>> Keep(const std::string& key, const v1::ActionResult& action,
                                                           std::vector<std::string> blobs, absl::Status* kept);

 private:
  absl::Status Load(StoredResult* result);

  cache::Cache& results_;
  cache::Cache& blobs_;
  const uint64_t inline_bytes_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_RESULT_STORE_H_
