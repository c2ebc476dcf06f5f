// SPDX-License-Identifier: Apache-2.0
// What an error carries beside its message. An absl::Status holds google.rpc details as payloads. server/rpc/status.cc
// alone converts such a status to gRPC's.
#ifndef SERVER_ERRORS_ERROR_DETAILS_H_
#define SERVER_ERRORS_ERROR_DETAILS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "proto/v1/compile.pb.h"
#include "server/errors/reason.h"
#include "server/errors/violation.h"

namespace tritond::server {

// Attaches a detail; one of each type.
void AddDetail(const google::protobuf::Message& detail, absl::Status* status);

// Reads the detail of the message's type; false when there is none.
bool ReadDetail(const absl::Status& status, google::protobuf::Message* detail);

// `status` with google.rpc.ErrorInfo of this reason and, unless the delay is zero, google.rpc.RetryInfo.
absl::Status WithReason(absl::Status status, Reason reason, absl::Duration retry_delay = absl::ZeroDuration());

// What WithReason attached; kNone and zero where nothing is.
Reason ReasonOf(const absl::Status& status);
absl::Duration RetryDelayOf(const absl::Status& status);
// The ErrorInfo's reason as it was sent, one of another daemon included; "" where there is none.
std::string ReasonTextOf(const absl::Status& status);

// InvalidArgument with google.rpc.BadRequest, naming each field. `violations` is not empty.
absl::Status InvalidRequest(const std::vector<Violation>& violations);

// `status` with the id of its job among the metadata of its ErrorInfo, unless one is there. A remembered error names
// the job that met it first.
absl::Status WithJob(absl::Status status, const std::string& job);

// The message as it may stand in a header: many peers refuse headers that hold more.
std::string BoundedMessage(absl::string_view message);

// The error as a message. It has an ErrorInfo, by its code where nothing better is attached.
v1::Failure ToFailure(const absl::Status& status);
// What ToFailure was given, and the ErrorInfo.
absl::Status FromFailure(const v1::Failure& failure);

}  // namespace tritond::server

#endif  // SERVER_ERRORS_ERROR_DETAILS_H_
