// SPDX-License-Identifier: Apache-2.0
#include "client/cc/retry.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "client/cc/status.h"
#include "google/rpc/error_details.pb.h"

namespace tritond::client {

bool DroppedByServer(const absl::Status& error) {
  return absl::IsUnavailable(error) || (absl::IsCancelled(error) && !Detail<google::rpc::ErrorInfo>(error));
}

bool MayAskAgain(const absl::Status& error) {
  if (DroppedByServer(error)) return ReasonOf(error) != "NO_WORKER";
  return absl::IsResourceExhausted(error) && Detail<google::rpc::RetryInfo>(error);
}

std::string ReasonOf(const absl::Status& error) {
  const auto info = Detail<google::rpc::ErrorInfo>(error);
  return info ? info->reason() : std::string();
}

bool IsForeign(const absl::Status& error) {
  if (Detail<google::rpc::ErrorInfo>(error)) return false;
  switch (error.code()) {
    // What gRPC makes of HTTP's 401, 403, 404 and others, and of methods that a server does not have.
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnknown:
      return true;
    case absl::StatusCode::kInternal:  // 400; this side has internal errors of its own
      return absl::StrContains(error.message(), "http2 header with status");
    default:
      return false;
  }
}

bool AnotherMayHelp(const absl::Status& error) {
  const std::string reason = ReasonOf(error);
  return reason == "UNKNOWN_TARGET" || reason == "BINARY_UNAVAILABLE" || reason == "NO_WORKER" || IsForeign(error);
}

bool IsAboutTheKernel(const absl::Status& error) {
  if (absl::IsInvalidArgument(error)) return !AnotherMayHelp(error);
  return absl::IsResourceExhausted(error) && Detail<v1::CompileFailure>(error).has_value();
}

absl::optional<absl::Duration> RetryDelay(const RetryPolicy& policy, const absl::Status& error, int attempts,
                                          double random) {
  if (attempts >= policy.max_attempts || !MayAskAgain(error)) return absl::nullopt;
  const auto info = Detail<google::rpc::RetryInfo>(error);
  if (info && info->has_retry_delay()) {
    const auto& delay = info->retry_delay();
    const absl::Duration asked = absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
    return asked * (1 + random / 2);
  }
  const absl::Duration full = policy.first_delay * (int64_t{1} << std::min(attempts - 1, 20));
  return std::min(full, policy.max_delay) * (0.5 + random / 2);
}

}  // namespace tritond::client
