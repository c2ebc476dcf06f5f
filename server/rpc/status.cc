// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/status.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tritond::server {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/";
constexpr char kDomain[] = "tritond";

std::string UrlOf(const google::protobuf::Message& detail) {
  return absl::StrCat(kTypePrefix, detail.GetDescriptor()->full_name());
}

// Headers that hold more are refused by many peers.
constexpr size_t kMaxMessageBytes = 4096;

std::string Bounded(absl::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  return absl::StrCat(message.substr(0, kMaxMessageBytes), "…");
}

absl::Status WithErrorInfo(const absl::Status& status) {
  if (status.GetPayload(UrlOf(google::rpc::ErrorInfo::default_instance())).has_value()) return status;
  return WithReason(status, absl::StatusCodeToString(status.code()));
}

template <typename Details>
void CopyDetails(const absl::Status& status, Details* details) {
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    google::protobuf::Any& any = *details->Add();
    any.set_type_url(std::string(url));
    any.set_value(std::string(payload));
  });
}

}  // namespace

void AddDetail(const google::protobuf::Message& detail, absl::Status* status) {
  // From a view: compilers disagree about the symbol of the constructor from a string.
  const std::string bytes = detail.SerializeAsString();
  status->SetPayload(UrlOf(detail), absl::Cord(absl::string_view(bytes)));
}

absl::Status WithReason(absl::Status status, absl::string_view reason, absl::Duration retry_delay) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(kDomain);
  AddDetail(info, &status);
  if (retry_delay > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(absl::ToInt64Milliseconds(retry_delay));
    AddDetail(retry, &status);
  }
  return status;
}

absl::Status WithJob(absl::Status status, const std::string& job) {
  if (status.ok() || job.empty()) return status;
  status = WithErrorInfo(status);
  google::rpc::ErrorInfo info;
  ReadDetail(status, &info);
  if (info.metadata().contains("job")) return status;
  (*info.mutable_metadata())["job"] = job;
  AddDetail(info, &status);
  return status;
}

bool ReadDetail(const absl::Status& status, google::protobuf::Message* detail) {
  const absl::optional<absl::Cord> payload = status.GetPayload(UrlOf(*detail));
  return payload.has_value() && detail->ParseFromString(std::string(*payload));
}

std::string ReasonOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  ReadDetail(status, &info);
  return info.reason();
}

absl::Duration RetryDelayOf(const absl::Status& status) {
  google::rpc::RetryInfo retry;
  if (!ReadDetail(status, &retry)) return absl::ZeroDuration();
  return absl::Nanoseconds(google::protobuf::util::TimeUtil::DurationToNanoseconds(retry.retry_delay()));
}

absl::Status InvalidRequest(const std::vector<Violation>& violations) {
  google::rpc::BadRequest bad;
  std::string text;
  for (const Violation& violation : violations) {
    auto& out = *bad.add_field_violations();
    out.set_field(violation.field);
    out.set_description(violation.description);
    absl::StrAppend(&text, text.empty() ? "" : "; ", violation.field, " ", violation.description);
  }
  absl::Status status = WithReason(absl::InvalidArgumentError(text), "BAD_REQUEST");
  AddDetail(bad, &status);
  return status;
}

absl::Status FromOutcome(const std::string& key, const Outcome& outcome) {
  if (outcome.status.ok() || outcome.reason.empty()) return WithJob(outcome.status, outcome.job);
  absl::Status status = WithReason(outcome.status, outcome.reason, outcome.retry_delay);
  if (!outcome.reports.empty()) {
    v1::CrashReport crash;
    crash.set_key(key);
    for (const std::string& report : outcome.reports) crash.add_reports(Bounded(report));
    crash.set_quarantined(outcome.quarantined);
    AddDetail(crash, &status);
  }
  return WithJob(std::move(status), outcome.job);
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(Bounded(status.message()));
  CopyDetails(WithErrorInfo(status), details.mutable_details());
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), details.message(), details.SerializeAsString());
}

v1::Failure ToFailure(const absl::Status& status) {
  v1::Failure failure;
  failure.set_code(static_cast<int>(status.code()));
  failure.set_message(std::string(status.message()));
  CopyDetails(WithErrorInfo(status), failure.mutable_details());
  return failure;
}

absl::Status FromFailure(const v1::Failure& failure) {
  absl::Status status(static_cast<absl::StatusCode>(failure.code()), failure.message());
  for (const google::protobuf::Any& detail : failure.details())
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return status;
}

}  // namespace tritond::server
