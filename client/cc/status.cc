// SPDX-License-Identifier: Apache-2.0
#include "client/cc/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tritond::client {
namespace {

template <typename Details>
absl::Status Build(int code, const std::string& message, const Details& details) {
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  for (const auto& detail : details) status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return status;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  google::rpc::Status rich;
  if (!rich.ParseFromString(status.error_details())) rich.Clear();
  return Build(status.error_code(), status.error_message(), rich.details());
}

absl::Status FromFailure(const v1::Failure& failure) {
  return Build(failure.code(), failure.message(), failure.details());
}

std::string ErrorText(const absl::Status& status) {
  std::string text(status.message());
  if (const auto bad = Detail<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) {
      if (text.find(violation.description()) != std::string::npos) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", violation.field(), ": ", violation.description());
    }
  }
  if (text.empty()) text = absl::StatusCodeToString(status.code());
  return absl::StrReplaceAll(absl::StripSuffix(text, "\n"), {{"\n", " | "}});
}

}  // namespace tritond::client
