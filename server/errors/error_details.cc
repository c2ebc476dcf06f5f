// SPDX-License-Identifier: Apache-2.0
#include "server/errors/error_details.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "google/rpc/error_details.pb.h"

namespace tritond::server {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/";
constexpr char kDomain[] = "tritond";

std::string UrlOf(const google::protobuf::Message& detail) {
  return absl::StrCat(kTypePrefix, detail.GetDescriptor()->full_name());
}

constexpr size_t kMaxMessageBytes = 4096;

absl::Status WithInfo(absl::Status status, std::string reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::move(reason));
  info.set_domain(kDomain);
  AddDetail(info, &status);
  return status;
}

absl::Status WithErrorInfo(const absl::Status& status) {
  if (status.GetPayload(UrlOf(google::rpc::ErrorInfo::default_instance())).has_value()) return status;
  return WithInfo(status, absl::StatusCodeToString(status.code()));
}

}  // namespace

void AddDetail(const google::protobuf::Message& detail, absl::Status* status) {
  // From a view: compilers disagree about the symbol of the constructor from a string.
  const std::string bytes = detail.SerializeAsString();
  status->SetPayload(UrlOf(detail), absl::Cord(absl::string_view(bytes)));
}

absl::Status WithReason(absl::Status status, Reason reason, absl::Duration retry_delay) {
  status = WithInfo(std::move(status), std::string(ReasonName(reason)));
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

std::string ReasonTextOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  ReadDetail(status, &info);
  return info.reason();
}

Reason ReasonOf(const absl::Status& status) { return ReasonOfName(ReasonTextOf(status)); }

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
  absl::Status status = WithReason(absl::InvalidArgumentError(text), Reason::kBadRequest);
  AddDetail(bad, &status);
  return status;
}

std::string BoundedMessage(absl::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  return absl::StrCat(message.substr(0, kMaxMessageBytes), "…");
}

v1::Failure ToFailure(const absl::Status& status) {
  v1::Failure failure;
  failure.set_code(static_cast<int>(status.code()));
  failure.set_message(std::string(status.message()));
  WithErrorInfo(status).ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    google::protobuf::Any& detail = *failure.add_details();
    detail.set_type_url(std::string(url));
    detail.set_value(std::string(payload));
  });
  return failure;
}

absl::Status FromFailure(const v1::Failure& failure) {
  absl::Status status(static_cast<absl::StatusCode>(failure.code()), failure.message());
  for (const google::protobuf::Any& detail : failure.details())
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return status;
}

}  // namespace tritond::server
