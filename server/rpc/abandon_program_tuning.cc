// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* AbandonProgramTuning(ProgramTuningDesk& desk, grpc::CallbackServerContext* context,
                                               const v1::AbandonProgramTuningRequest* request) {
  desk.Abandon(request->ticket());
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
