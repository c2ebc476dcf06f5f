// SPDX-License-Identifier: Apache-2.0
// A compile's answer on the wire. A hit is sent as stored. The serialized result and the artifacts' bytes go out as
// they lie in the cache, with only the tags between them written anew.
#ifndef SERVER_RPC_RESPONSE_H_
#define SERVER_RPC_RESPONSE_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "proto/v1/compile.pb.h"
#include "server/compile/compile_answer.h"

namespace tritond::server {

// The bytes of a CompileResponse. Artifacts are included while their sum is at most `inline_bytes`.
grpc::ByteBuffer EncodeResponse(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes);

}  // namespace tritond::server

#endif  // SERVER_RPC_RESPONSE_H_
