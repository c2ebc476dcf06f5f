// SPDX-License-Identifier: Apache-2.0
// A compile's answer on the wire. A hit is sent as stored: the serialized result and the artifacts' bytes go out as
// they lie in the cache, with only the tags between them written anew.
#ifndef SERVER_RPC_RESPONSE_H_
#define SERVER_RPC_RESPONSE_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "proto/v1/compile.pb.h"
#include "server/rpc/result_store.h"

namespace tritond::server {

struct CompileAnswer {
  std::string key;
  v1::CacheStatus cache = v1::CACHE_STATUS_UNSPECIFIED;
  std::shared_ptr<const StoredResult> result;  // Shared with the cache and other callers.
  absl::Duration queue_time;
  std::string job;  // the id of the compile; "": there was none
};

// The bytes of a CompileResponse. Artifacts are included while their sum is at most `inline_bytes`.
grpc::ByteBuffer EncodeResponse(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes);

// The same as a message, for answers inside other messages.
v1::CompileResponse ToMessage(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes);

}  // namespace tritond::server

#endif  // SERVER_RPC_RESPONSE_H_
