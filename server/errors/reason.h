// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ERRORS_REASON_H_
#define SERVER_ERRORS_REASON_H_

#include "absl/strings/string_view.h"

namespace tritond::server {

// Why a call failed, as google.rpc.ErrorInfo names it to callers (docs/api).
enum class Reason {
  kNone,  // no reason of this daemon's: the status code says it all
  kBadMessage,
  kBadRequest,
  kBinaryUnavailable,
  kBundleRefused,
  kCancelled,
  kCompileFailed,
  kDeadline,
  kDeviceLost,
  kDraining,
  kEngineUnavailable,
  kHeadersTooLarge,
  kIdempotencyKeyReused,
  kMemoryFull,
  kMessageTooLarge,
  kNotWritten,
  kNoDevice,
  kNoWinner,
  kNoWorker,
  kPermissionDenied,
  kQuarantined,
  kQueueFull,
  kTenantQueueFull,
  kTextsFull,
  kTicketLost,
  kTimeLimit,
  kTooManyFields,
  kTooManyJobs,
  kTransfersFull,
  kTuningsFull,
  kUnauthenticated,
  kUnknownTarget,
  kWorkerLost,
};

// "QUEUE_FULL"; "" for kNone.
absl::string_view ReasonName(Reason reason);
// The inverse; kNone for any other text, such as a reason of a newer daemon.
Reason ReasonOfName(absl::string_view name);

}  // namespace tritond::server

#endif  // SERVER_ERRORS_REASON_H_
