// SPDX-License-Identifier: Apache-2.0
#include "client/cc/retry.h"

#include <algorithm>

#include "client/cc/status.h"
#include "google/rpc/error_details.pb.h"

namespace tritond::client {

bool DroppedByServer(const absl::Status& error) {
  return absl::IsUnavailable(error) || (absl::IsCancelled(error) && !Detail<google::rpc::ErrorInfo>(error));
}

bool MayAskAgain(const absl::Status& error) {
  return DroppedByServer(error) || (absl::IsResourceExhausted(error) && Detail<google::rpc::RetryInfo>(error));
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
