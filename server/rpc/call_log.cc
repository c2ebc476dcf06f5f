// SPDX-License-Identifier: Apache-2.0
// An interceptor sees every method of every service, streams and gRPC's own services included, without a line in any of
// them. All it does for a call that nobody is to hear of is to remember when that began.
#include "server/rpc/call_log.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

using grpc::experimental::InterceptionHookPoints;

bool IsFailure(grpc::StatusCode code) { return code != grpc::StatusCode::OK && code != grpc::StatusCode::NOT_FOUND; }

// Unix connections are handed to gRPC as descriptors, and named so.
std::string PeerKind(const grpc::ServerContextBase& context) {
  const std::string peer = context.peer();
  if (absl::StartsWith(peer, "fd:") || absl::StartsWith(peer, "unix:")) return "unix";
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr) return "tcp";
  for (const grpc::string_ref& type : auth->FindPropertyValues("transport_security_type"))
    if (type == "ssl" || type == "tls") return "tls";
  return "tcp";
}

class CallWatch final : public grpc::experimental::Interceptor {
 public:
  CallWatch(CallLog& log, grpc::experimental::ServerRpcInfo* info)
      : log_(log), info_(info), start_(timing::SteadyNow()) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) OnStatus(*methods);
    methods->Proceed();
  }

 private:
  void OnStatus(grpc::experimental::InterceptorBatchMethods& methods) {
    const grpc::StatusCode code = methods.GetSendStatus().error_code();
    const absl::Time now = timing::SteadyNow();
    CallRecord record;
    if (!log_.Wants(code, now, &record.left_out)) return;
    record.method = info_->method();
    record.peer = PeerKind(*info_->server_context());
    record.code = CodeName(code);
    record.failed = IsFailure(code);
    record.duration = now - start_;
    log_.Tell(record);
  }

  CallLog& log_;
  grpc::experimental::ServerRpcInfo* const info_;  // Outlives this.
  const absl::Time start_;
};

}  // namespace

CallLog::CallLog(Config config, std::function<void(const CallRecord&)> tell)
    : config_(config), tell_(std::move(tell)) {}

grpc::experimental::Interceptor* CallLog::CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) {
  return new CallWatch(*this, info);  // gRPC's to delete.
}

bool CallLog::Wants(grpc::StatusCode code, absl::Time now, uint64_t* left_out) {
  if (!config_.all && !IsFailure(code)) return false;
  absl::MutexLock lock(&mu_);
  const int64_t second = absl::ToUnixSeconds(now);
  if (second != std::exchange(second_, second)) told_ = 0;
  if (told_ >= config_.per_second) {
    ++left_out_;
    return false;
  }
  ++told_;
  *left_out = std::exchange(left_out_, 0);
  return true;
}

std::string CodeName(grpc::StatusCode code) { return absl::StatusCodeToString(static_cast<absl::StatusCode>(code)); }

}  // namespace tritond::server
