// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/authorizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

// Nobody has waited for a call that lives no longer.
constexpr absl::Duration kReset = absl::Milliseconds(100);

std::vector<std::string> PropertyOf(const grpc::AuthContext& auth, const char* name) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : auth.FindPropertyValues(name)) values.emplace_back(value.data(), value.size());
  return values;
}

Credentials CredentialsOf(const grpc::CallbackServerContext& context, absl::string_view connection,
                          const UnixPeers& peers) {
  Credentials credentials;
  credentials.unix_user = peers.UserOf(connection);
  auto header = context.client_metadata().find("authorization");
  if (header != context.client_metadata().end()) {
    absl::string_view value(header->second.data(), header->second.size());
    // Another scheme is no token that anyone knows, and not nothing.
    absl::ConsumePrefix(&value, "Bearer ");
    credentials.token = value.empty() ? "-" : std::string(value);
  }
  if (const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context()) {
    const std::vector<std::string> transport = PropertyOf(*auth, "transport_security_type");
    credentials.encrypted = !transport.empty() && (transport[0] == "ssl" || transport[0] == "tls");
    if (auth->IsPeerAuthenticated()) credentials.common_names = PropertyOf(*auth, "x509_common_name");
  }
  return credentials;
}

absl::Status CheckHeaders(const grpc::CallbackServerContext& context) {
  size_t bytes = 0;
  for (const auto& [name, value] : context.client_metadata()) bytes += name.size() + value.size();
  if (bytes <= Authorizer::kMaxHeaderBytes) return absl::OkStatus();
  return WithReason(
      absl::ResourceExhaustedError(absl::StrCat(
          "headers of ", bytes, " bytes, tokens included (--token-file of triton-client), are more than the ",
          Authorizer::kMaxHeaderBytes, " that this server takes")),
      Reason::kHeadersTooLarge);
}

}  // namespace

absl::StatusOr<Caller> Authorizer::Check(const grpc::CallbackServerContext& context, Need need) const {
  const std::optional<Caller> everyone = policy_.Everyone();
  if (!everyone.has_value()) {
    absl::Status small = CheckHeaders(context);
    if (!small.ok()) return small;
  }
  const std::string connection = context.peer();
  if (context.IsCancelled()) {
    listener_.OnReset(connection);
    return WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled);
  }
  absl::StatusOr<Caller> caller =
      everyone.has_value() ? *everyone : policy_.Identify(CredentialsOf(context, connection, peers_));
  if (!caller.ok()) return WithReason(caller.status(), Reason::kUnauthenticated);
  absl::Status allowed = CheckAccess(*caller, need);
  if (!allowed.ok()) return WithReason(allowed, Reason::kPermissionDenied);
  listener_.OnAdmitted(connection, need);
  return caller;
}

void Authorizer::NoteReset(const grpc::CallbackServerContext& context) const { listener_.OnReset(context.peer()); }

void Authorizer::OnCancel(absl::string_view connection, absl::Duration after) const {
  if (after < kReset) listener_.OnReset(connection);
}

std::string TurnOf(const Caller& caller, const grpc::CallbackServerContext& context) {
  if (!caller.tenant.empty()) return absl::StrCat("tenant:", caller.tenant);
  const std::string peer = context.peer();  // "ipv4:HOST:PORT", "ipv6:[HOST]:PORT" or UnixPeers::NameOf
  return absl::StartsWith(peer, "ip") ? peer.substr(0, peer.rfind(':')) : peer;
}

void ServeFor(const Caller& caller, v1::CompileRequest* request) {
  if (!caller.tenant.empty()) request->set_tenant(caller.tenant);
  if (caller.role == Role::kPrebuild) request->set_priority(v1::PRIORITY_PREBUILD);
}

absl::StatusOr<v1::Job> FindJob(const JobStore& store, const Caller& caller, absl::string_view id) {
  absl::StatusOr<v1::Job> job = store.Get(id);
  if (job.ok() && !Sees(caller, job->tenant()))
    return absl::NotFoundError(absl::StrCat("there is no job ", id, ", or it ended too long ago"));
  return job;
}

}  // namespace tritond::server
