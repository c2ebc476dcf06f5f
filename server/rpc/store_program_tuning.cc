// SPDX-License-Identifier: Apache-2.0
#include "absl/time/clock.h"
#include "google/protobuf/util/time_util.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "server/tunings/tuning_name.h"

namespace tritond::server {

grpc::ServerUnaryReactor* StoreProgramTuning(CompileBroker& broker, ProgramTuningDesk& desk, const Caller& caller,
                                             grpc::CallbackServerContext* context,
                                             const v1::StoreProgramTuningRequest* request) {
  std::vector<Violation> wrong = CheckTuningKey(request->key());
  for (Violation& violation : CheckTuning(request->key(), request->tuning())) wrong.push_back(std::move(violation));
  if (!wrong.empty()) return FinishNow(context, InvalidRequest(wrong));
  v1::ProgramTuning tuning = request->tuning();
  tuning.DiscardUnknownFields();
  *tuning.mutable_created() = google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(absl::Now()));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  desk.Store(request->ticket(), NameTuning(broker, caller, request->key()), std::move(tuning),
             [reactor](absl::Status stored) {
               if (absl::IsNotFound(stored)) stored = WithReason(stored, Reason::kTicketLost);
               if (absl::IsInvalidArgument(stored))
                 stored = InvalidRequest({{"ticket", std::string(stored.message())}});
               reactor->Finish(ToGrpc(stored));
             });
  return reactor;
}

}  // namespace tritond::server
