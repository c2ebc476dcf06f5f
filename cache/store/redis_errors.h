// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_REDIS_ERRORS_H_
#define CACHE_STORE_REDIS_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tritond::cache {

// What an error reply tells of the node that gave it, for NodeHealth. OK where the node does its work: the error is
// about a key, or names another node. Else a refusal whose message is for people. An error's own text may quote what it
// was sent, such as a password, so the message has its first word alone.
absl::Status RefusalIn(absl::string_view error);
// The same of an error reply to AUTH.
absl::Status LoginRefusalIn(absl::string_view error);

// What an error reply means for the call that got it: Unavailable, another try may help. ResourceExhausted, the engine
// takes no writes; PermissionDenied, FailedPrecondition: it refuses this daemon; Internal.
absl::Status ErrorIn(absl::string_view error);

}  // namespace tritond::cache

#endif  // CACHE_STORE_REDIS_ERRORS_H_
