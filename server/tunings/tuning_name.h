// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_TUNINGS_TUNING_NAME_H_
#define SERVER_TUNINGS_TUNING_NAME_H_

#include "server/admission/access.h"
#include "server/compile/compile_broker.h"
#include "server/tunings/tuning_key.h"

namespace tritond::server {

// The digest of a key for this caller, with the compiler build that the daemon uses now.
inline cache::Digest NameTuning(CompileBroker& broker, const Caller& caller, const v1::ProgramTuningKey& key) {
  const std::optional<KnownTarget> target = broker.targets().Find(key.target());
  return DigestOf(key, TenantOf(caller), target.has_value() ? target->build_id : "");
}

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_NAME_H_
