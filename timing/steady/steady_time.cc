// SPDX-License-Identifier: Apache-2.0
#include "timing/steady/steady_time.h"

#include <chrono>

#include "absl/time/clock.h"

namespace tritond::timing {

absl::Time SteadyNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

absl::Time ToWallTime(absl::Time time, absl::Time now) { return absl::Now() + (time - now); }

absl::Time FromWallTime(absl::Time wall_time, absl::Time now) { return now + (wall_time - absl::Now()); }

}  // namespace tritond::timing
