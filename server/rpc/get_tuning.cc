// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* GetTuning(TuningDesk& tunings, grpc::CallbackServerContext* context,
                                    const v1::GetTuningRequest* request, v1::Tuning* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  tunings.RunBlocking([&tunings, reactor, request, response] {
    absl::StatusOr<v1::Tuning> found = tunings.Find(request->key());
    if (found.ok()) *response = *std::move(found);
    reactor->Finish(ToGrpc(found.status()));
  });
  return reactor;
}

}  // namespace tritond::server
