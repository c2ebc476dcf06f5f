// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason.h"

#include <cstddef>
#include <iterator>

namespace tritond::server {
namespace {

// In the order of the enumerators.
constexpr absl::string_view kNames[] = {
    "",
    "BAD_MESSAGE",
    "BAD_REQUEST",
    "BINARY_UNAVAILABLE",
    "BUNDLE_REFUSED",
    "CANCELLED",
    "COMPILE_FAILED",
    "DEADLINE",
    "DEVICE_LOST",
    "DRAINING",
    "ENGINE_UNAVAILABLE",
    "HEADERS_TOO_LARGE",
    "IDEMPOTENCY_KEY_REUSED",
    "MEMORY_FULL",
    "MESSAGE_TOO_LARGE",
    "NOT_WRITTEN",
    "NO_DEVICE",
    "NO_WINNER",
    "NO_WORKER",
    "PERMISSION_DENIED",
    "QUARANTINED",
    "QUEUE_FULL",
    "TENANT_QUEUE_FULL",
    "TEXTS_FULL",
    "TICKET_LOST",
    "TIME_LIMIT",
    "TOO_MANY_FIELDS",
    "TOO_MANY_JOBS",
    "TRANSFERS_FULL",
    "TUNINGS_FULL",
    "UNAUTHENTICATED",
    "UNKNOWN_TARGET",
    "WORKER_LOST",
};
static_assert(std::size(kNames) == static_cast<size_t>(Reason::kWorkerLost) + 1);

}  // namespace

absl::string_view ReasonName(Reason reason) { return kNames[static_cast<size_t>(reason)]; }

Reason ReasonOfName(absl::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Reason>(i);
  }
  return Reason::kNone;
}

}  // namespace tritond::server
