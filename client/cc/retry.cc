// SPDX-License-Identifier: Apache-2.0
#include "client/cc/retry.h"

#include <algorithm>

#include "client/cc/status.h"
#include "google/rpc/error_details.pb.h"

namespace tritond::client {

absl::optional<absl::Duration> RetryDelay(const RetryPolicy& policy, const absl::Status& error, int attempts,
                                          double random) {
  if (attempts >= policy.max_attempts) return absl::nullopt;
  const auto info = Detail<google::rpc::RetryInfo>(error);
  // A server that ends cancels calls that it has not begun; one that answers says why.
  const bool dropped = error.code() == absl::StatusCode::kCancelled && !Detail<google::rpc::ErrorInfo>(error);
  const bool retryable = error.code() == absl::StatusCode::kUnavailable || dropped ||
                         (error.code() == absl::StatusCode::kResourceExhausted && info);
  if (!retryable) return absl::nullopt;
  if (info && info->has_retry_delay()) {
    const auto& delay = info->retry_delay();
    const absl::Duration asked = absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
    return asked * (1 + random / 2);
  }
  const absl::Duration full = policy.first_delay * (int64_t{1} << std::min(attempts - 1, 20));
  return std::min(full, policy.max_delay) * (0.5 + random / 2);
}

}  // namespace tritond::client
