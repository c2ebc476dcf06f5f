// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_JOB_USAGE_H_
#define WORKERS_RUNNER_JOB_USAGE_H_

#include <cstdint>

#include "absl/time/time.h"

namespace tritond::workers {

// What this process and the programs that it runs use from the construction on. One at a time: each begins the count
// of peaks anew.
class JobUsage final {
 public:
  JobUsage();

  // CPU time, of programs that have ended too.
  absl::Duration cpu() const;
  // The most that was resident at once in this process, with what was there before, or in a program that it ran,
  // whichever is more. Where the kernel cannot forget an earlier peak (see `forgets_peaks`): 0, unless that was passed.
  uint64_t peak_bytes() const;
  // Whether peaks are those of this job alone.
  bool forgets_peaks() const { return forgets_peaks_; }

 private:
  const absl::Duration cpu_before_;
  const uint64_t own_before_, children_before_;
  const bool forgets_peaks_;
};

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_JOB_USAGE_H_
