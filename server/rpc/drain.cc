// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

// Before the caller's deadline, so that the answer arrives in time.
constexpr absl::Duration kMargin = absl::Milliseconds(200);

}  // namespace

grpc::ServerUnaryReactor* Drain(CompileBroker& broker, grpc::CallbackServerContext* context,
                                const v1::DrainRequest* request, v1::DrainResponse* response) {
  broker.scheduler().SetDraining(!request->resume());
  response->set_draining(!request->resume());
  if (request->resume()) return FinishNow(context, absl::OkStatus());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  broker.scheduler().WhenIdle(DeadlineOf(*context, broker.Now()) - kMargin, [reactor, response](size_t remaining) {
    response->set_remaining(remaining);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

}  // namespace tritond::server
