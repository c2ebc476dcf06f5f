// SPDX-License-Identifier: Apache-2.0
#include "google/protobuf/util/time_util.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* RenewProgramTuning(ProgramTuningDesk& desk, grpc::CallbackServerContext* context,
                                             const v1::RenewProgramTuningRequest* request,
                                             v1::RenewProgramTuningResponse* response) {
  const absl::Status renewed = desk.Renew(request->ticket());
  if (!renewed.ok()) return FinishNow(context, WithReason(renewed, Reason::kTicketLost));
  *response->mutable_ticket_lifetime() = google::protobuf::util::TimeUtil::MillisecondsToDuration(
      absl::ToInt64Milliseconds(desk.config().ticket_lifetime));
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
