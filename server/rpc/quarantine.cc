// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "server/errors/parse_digest.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {

grpc::ServerUnaryReactor* ListQuarantine(CompileBroker& broker, const Caller& caller,
                                         grpc::CallbackServerContext* context, v1::ListQuarantineResponse* response) {
  for (const auto& entry : broker.scheduler().Quarantined()) {
    if (!Sees(caller, entry.tenant)) continue;
    v1::QuarantineEntry& out = *response->add_entries();
    out.set_key(entry.key);
    out.set_label(entry.label);
    if (entry.by_hand.has_value()) out.add_reports(absl::StrCat("by hand: ", *entry.by_hand));
    for (const std::string& report : entry.reports) out.add_reports(report);
    const absl::Time since = timing::ToWallTime(entry.since, broker.Now());
    *out.mutable_since() = google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(since));
  }
  return FinishNow(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* Quarantine(CompileBroker& broker, grpc::CallbackServerContext* context,
                                     const v1::QuarantineRequest* request) {
  if (const absl::Status key = ParseDigest("key", request->key()).status(); !key.ok()) return FinishNow(context, key);
  broker.scheduler().Lock(request->key(), request->reason());
  return FinishNow(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* Release(CompileBroker& broker, grpc::CallbackServerContext* context,
                                  const v1::ReleaseRequest* request) {
  if (const absl::Status key = ParseDigest("key", request->key()).status(); !key.ok()) return FinishNow(context, key);
  if (broker.scheduler().Release(request->key())) return FinishNow(context, absl::OkStatus());
  return FinishNow(context, absl::NotFoundError(absl::StrCat(request->key(), " is not in quarantine")));
}

}  // namespace tritond::server
