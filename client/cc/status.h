// SPDX-License-Identifier: Apache-2.0
// The border between gRPC's errors and absl::Status on the client's side. The details that the server attaches
// (google.rpc.*, tritond.v1.CompileFailure, …) travel as payloads of the status, under their type URLs.
#ifndef CLIENT_CC_STATUS_H_
#define CLIENT_CC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// The same code and message; the details as payloads. A detail that cannot be parsed is left out.
absl::Status FromGrpc(const grpc::Status& status);

// The error of one item of a batch or of a job.
absl::Status FromFailure(const v1::Failure& failure);

// The payload of type `Message`; none when the status does not carry it.
template <typename Message>
absl::optional<Message> Detail(const absl::Status& status) {
  const auto payload = status.GetPayload("type.googleapis.com/" + std::string(Message::descriptor()->full_name()));
  Message message;
  if (!payload || !message.ParseFromString(std::string(*payload))) return absl::nullopt;
  return message;
}

// What WhyUnavailable says of a peer that closes the connection at once, and of a web server.
inline constexpr char kHangsUp[] =
    "something listens there, but hangs up on plain text: does it want TLS (--tls, --tls-ca)?";
inline constexpr char kTalksHttp[] =
    "an HTTP server listens there, such as the daemon's status page; calls go to the daemon's --listen address, port "
    "7433 "
    "unless it says otherwise";

// Why no connection came about, in a few words, from gRPC's message. The end of that message where it is none of those
// that are known. `tls`: this side talked TLS.
std::string WhyUnavailable(absl::string_view message, bool tls);

// The message on one line, with the fields that a BadRequest names.
std::string ErrorText(const absl::Status& status);

}  // namespace tritond::client

#endif  // CLIENT_CC_STATUS_H_
