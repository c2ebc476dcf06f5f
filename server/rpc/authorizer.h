// SPDX-License-Identifier: Apache-2.0
// Where calls are let in: who a gRPC call comes from, and what that allows.
#ifndef SERVER_RPC_AUTHORIZER_H_
#define SERVER_RPC_AUTHORIZER_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/access.h"
#include "server/jobs/job_store.h"
#include "server/rpc/unix_peers.h"

namespace tritond::server {

// Hears of calls by the names of their connections. Thread-safe.
class CallListener {
 public:
  virtual ~CallListener() = default;
  // The call is let in; it has not begun.
  virtual void OnAdmitted(absl::string_view connection, Need need) = 0;
  // Its caller reset the call as soon as it was made.
  virtual void OnReset(absl::string_view connection) = 0;
};

// Thread-safe. Does not own what it is given.
class Authorizer final {
 public:
  // Most that a call's headers may have together where they are read, which is where rules ask for credentials. gRPC's
  // own limit is to be above: a call beyond that one costs the whole connection, with all other calls on it.
  static constexpr size_t kMaxHeaderBytes = size_t{16} << 10;

  Authorizer(const AccessPolicy& policy, const UnixPeers& peers, CallListener& listener)
      : policy_(policy), peers_(peers), listener_(listener) {}
  // Cancelled when the caller has gone already; ResourceExhausted, Unauthenticated, PermissionDenied.
  absl::StatusOr<Caller> Check(const grpc::CallbackServerContext& context, Need need) const;
  // The call was reset before its message had come.
  void NoteReset(const grpc::CallbackServerContext& context) const;
  // A call over `connection` that was let in has been cancelled, `after` it began.
  void OnCancel(absl::string_view connection, absl::Duration after) const;

 private:
  const AccessPolicy& policy_;
  const UnixPeers& peers_;
  CallListener& listener_;
};

// Whose turn it is where callers take turns: the tenant's of the credentials, else the machine's or local connection's
// that the call comes from.
std::string TurnOf(const Caller& caller, const grpc::CallbackServerContext& context);

// Serves the request as its caller may: for the tenant of its credentials, and of role prebuild in that class.
void ServeFor(const Caller& caller, v1::CompileRequest* request);

// NotFound for an unknown id, and for another tenant's job.
absl::StatusOr<v1::Job> FindJob(const JobStore& store, const Caller& caller, absl::string_view id);

}  // namespace tritond::server

#endif  // SERVER_RPC_AUTHORIZER_H_
