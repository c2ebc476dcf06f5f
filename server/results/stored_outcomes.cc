// SPDX-License-Identifier: Apache-2.0
#include "server/results/stored_outcomes.h"

#include <memory>

#include "absl/strings/str_cat.h"

namespace tritond::server {

std::optional<Outcome> StoredOutcomes::Find(const std::string& key) {
  Outcome outcome;
  if (std::optional<absl::Status> error = errors_.Find(key)) {
    outcome.status = *std::move(error);
    return outcome;
  }
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = results_.Find(key);
  if (!stored.ok()) {
    if (!absl::IsNotFound(stored.status())) log_(absl::StrCat("cache: ", stored.status().ToString()));
    return std::nullopt;
  }
  outcome.value = *std::move(stored);
  return outcome;
}

}  // namespace tritond::server
