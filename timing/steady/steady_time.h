// SPDX-License-Identifier: Apache-2.0
#ifndef TIMING_STEADY_STEADY_TIME_H_
#define TIMING_STEADY_STEADY_TIME_H_

#include "absl/time/time.h"

namespace tritond::timing {

// A clock that nobody sets and that never goes back; it stands still while the machine sleeps. Good for differences
// alone: it counts from no date (a time of it that is shown by mistake lies in 1970). Source: CLOCK_MONOTONIC.
absl::Time SteadyNow();

// What the wall clock shows at `time`, a time of a clock that shows `now` at this moment; and the reverse. Infinite
// times stay what they are.
absl::Time ToWallTime(absl::Time time, absl::Time now);
absl::Time FromWallTime(absl::Time wall_time, absl::Time now);

}  // namespace tritond::timing

#endif  // TIMING_STEADY_STEADY_TIME_H_
