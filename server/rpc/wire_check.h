// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_WIRE_CHECK_H_
#define SERVER_RPC_WIRE_CHECK_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <grpc/byte_buffer.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"

namespace tritond::server {

// What a serialized message may be. Two bytes of it can become an object of 200 bytes. So a bound of its size alone
// bounds neither the memory nor the time that parsing takes.
struct WireLimits {
  uint64_t bytes = 0;
  uint64_t fields = 0;  // together, those of messages within it included
  int depth = 32;       // of messages within messages
};

// That a message cannot be parsed.
absl::Status NotParsed(const google::protobuf::Descriptor& type);

// Reads a serialized message of `type` without building it, in time linear in its size; strings are skipped.
// ResourceExhausted (reason MESSAGE_TOO_LARGE or TOO_MANY_FIELDS) names the message and the limit; InvalidArgument
// (BAD_MESSAGE) when it is nested too deeply or no such message. `size`: of all of it.
absl::Status CheckWire(google::protobuf::io::ZeroCopyInputStream* input, uint64_t size,
                       const google::protobuf::Descriptor& type, const WireLimits& limits);
// The same for a message of gRPC's, which stays as it is.
absl::Status CheckWire(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type,
                       const WireLimits& limits);
absl::Status CheckWire(grpc_byte_buffer* bytes, const google::protobuf::Descriptor& type, const WireLimits& limits);

}  // namespace tritond::server

#endif  // SERVER_RPC_WIRE_CHECK_H_
