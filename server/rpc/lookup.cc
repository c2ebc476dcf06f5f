// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* Lookup(Engine& engine, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) {
  v1::LookupRequest message;
  grpc::ByteBuffer copy(*request);
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::LookupRequest>(&copy, &message).ok()) {
    return FinishNow(context, WithReason(absl::InvalidArgumentError("the request is no LookupRequest"), "BAD_MESSAGE"));
  }
  absl::StatusOr<CompileAnswer> answer = engine.Lookup(message.key());
  if (answer.ok()) *response = EncodeResponse(*answer, message.delivery(), engine.config().store.inline_bytes);
  return FinishNow(context, answer.status());
}

}  // namespace tritond::server
