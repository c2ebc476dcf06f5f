// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/rpc/reactors.h"
#include "server/rpc/response.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* Lookup(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  v1::LookupRequest message;
  grpc::ByteBuffer copy(*request);
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::LookupRequest>(&copy, &message).ok()) {
    return FinishNow(context,
                     WithReason(absl::InvalidArgumentError("the request is no LookupRequest"), Reason::kBadMessage));
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const uint64_t inline_bytes = broker.config().store.inline_bytes;
  broker.Lookup(message.key(), caller.tenant, [=, delivery = message.delivery()](absl::StatusOr<CompileAnswer> answer) {
    if (answer.ok()) *response = EncodeResponse(*answer, delivery, inline_bytes);
    reactor->Finish(ToGrpc(answer.status()));
  });
  return reactor;
}

}  // namespace tritond::server
