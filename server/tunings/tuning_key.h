// SPDX-License-Identifier: Apache-2.0
// What the tuning of a user's program is called, and what is wrong with one.
#ifndef SERVER_TUNINGS_TUNING_KEY_H_
#define SERVER_TUNINGS_TUNING_KEY_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "cache/api/digest.h"
#include "proto/v1/autotune.pb.h"
#include "server/admission/check_request.h"

namespace tritond::server {

// Everything that is wrong with a key, empty when nothing is. Fields are named as in a request that has it in `key`.
std::vector<Violation> CheckTuningKey(const v1::ProgramTuningKey& key);

// The same for what was measured under a key that is right.
std::vector<Violation> CheckTuning(const v1::ProgramTuningKey& key, const v1::ProgramTuning& tuning);

// Whether a tuning can be believed without its key: what comes from elsewhere. CheckTuning says more.
bool IsTuning(const v1::ProgramTuning& tuning);

// The name under which tunings are stored. `tenant` is that of the caller's credentials: tenants do not choose for each
// other. `build_id` is the compiler of the key's target; it counts only where the key names the program by its source.
cache::Digest DigestOf(const v1::ProgramTuningKey& key, absl::string_view tenant, absl::string_view build_id);

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_KEY_H_
