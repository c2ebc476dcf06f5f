// SPDX-License-Identifier: Apache-2.0
// How errors leave the daemon. Inside, an absl::Status carries google.rpc details as payloads; here alone they become
// gRPC's.
#ifndef SERVER_RPC_STATUS_H_
#define SERVER_RPC_STATUS_H_

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/check_request.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Attaches a detail; one of each type.
void AddDetail(const google::protobuf::Message& detail, absl::Status* status);

// `status` with google.rpc.ErrorInfo of this reason and, unless the delay is zero, google.rpc.RetryInfo.
absl::Status WithReason(absl::Status status, absl::string_view reason,
                        absl::Duration retry_delay = absl::ZeroDuration());

// InvalidArgument with google.rpc.BadRequest, naming each field. `violations` is not empty.
absl::Status InvalidRequest(const std::vector<Violation>& violations);

// `status` with the id of its job among the metadata of its ErrorInfo, unless one is there: a remembered error names
// the job that met it first.
absl::Status WithJob(absl::Status status, const std::string& job);

// Reads the detail of the message's type; false when there is none.
bool ReadDetail(const absl::Status& status, google::protobuf::Message* detail);

// What WithReason attached; "" and zero where nothing is.
std::string ReasonOf(const absl::Status& status);
absl::Duration RetryDelayOf(const absl::Status& status);

// Why a job of the scheduler's failed, with everything known about it.
absl::Status FromOutcome(const std::string& key, const Outcome& outcome);

// Every error gets an ErrorInfo, by its code where nothing better is attached.
grpc::Status ToGrpc(const absl::Status& status);
v1::Failure ToFailure(const absl::Status& status);
// What ToFailure was given, and the ErrorInfo.
absl::Status FromFailure(const v1::Failure& failure);

}  // namespace tritond::server

#endif  // SERVER_RPC_STATUS_H_
