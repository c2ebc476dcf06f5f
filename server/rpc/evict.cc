// SPDX-License-Identifier: Apache-2.0
#include "server/errors/parse_digest.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* Evict(CompileBroker& broker, TuningStore& tunings, grpc::CallbackServerContext* context,
                                const v1::EvictRequest* request, v1::EvictResponse* response) {
  if (request->everything() == (request->keys_size() > 0))
    return FinishNow(context, InvalidRequest({{"keys", "name either keys or everything"}}));
  if (const absl::Status keys = CheckDigests("keys", request->keys()); !keys.ok()) return FinishNow(context, keys);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  broker.RunBlocking([&broker, &tunings, request, response, reactor] {
    absl::StatusOr<v1::EvictResponse> evicted =
        request->everything() ? broker.EvictAll() : broker.Evict({request->keys().begin(), request->keys().end()});
    if (evicted.ok()) *response = *evicted;
    absl::Status status = evicted.status();
    if (request->everything()) status.Update(tunings.ForgetAll());
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

}  // namespace tritond::server
