// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_REDIS_ERRORS_H_
#define CACHE_STORE_REDIS_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tritond::cache {

// What an error reply tells of the node that gave it, as NodeHealth wants it: OK where the node does its work (the
// error is about a key, or says who else to ask), else a refusal whose message is for people. An error's own text may
// quote what it was sent, a password for one: of it the message has the first word alone.
absl::Status RefusalIn(absl::string_view error);
// The same of an error reply to AUTH.
absl::Status LoginRefusalIn(absl::string_view error);

// What an error reply means for the call that got it: Unavailable, another try may help. ResourceExhausted, the engine
// takes no writes; PermissionDenied, FailedPrecondition: it refuses this daemon; Internal.
absl::Status ErrorIn(absl::string_view error);

}  // namespace tritond::cache

#endif  // CACHE_STORE_REDIS_ERRORS_H_
