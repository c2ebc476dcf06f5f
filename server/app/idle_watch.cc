// SPDX-License-Identifier: Apache-2.0
#include "server/app/idle_watch.h"

namespace tritond::server {

bool IdleWatch::Observe(uint64_t asked, bool busy, absl::Time now) {
  if (busy || asked != asked_) since_ = now;
  asked_ = asked;
  return limit_ > absl::ZeroDuration() && now - since_ >= limit_;
}

}  // namespace tritond::server
