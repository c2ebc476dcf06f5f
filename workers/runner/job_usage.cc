// SPDX-License-Identifier: Apache-2.0
// The kernel keeps a peak for the life of a process. Writing 5 into /proc/self/clear_refs sets it back to what is
// resident now (proc(5)), after which VmHWM in /proc/self/status is the peak since. ru_maxrss stays. So where
// clear_refs cannot be written, it tells of a job's peak only if no earlier job had a higher one.
#include "workers/runner/job_usage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "workers/runner/limits.h"

namespace tritond::workers {
namespace {

constexpr uint64_t kKib = 1024;

bool ForgetPeak() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, "5", 1) == 1;
  close(file);
  return done;
}

// VmHWM; 0 where it cannot be read.
uint64_t PeakSinceForgotten() {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[4096] = {};
  const ssize_t count = read(file, text, sizeof(text) - 1);
  close(file);
  const char* line = count <= 0 ? nullptr : strstr(text, "\nVmHWM:");
  return line == nullptr ? 0 : strtoull(line + strlen("\nVmHWM:"), nullptr, 10) * kKib;
}

uint64_t MostEver(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * kKib;
}

uint64_t IfMore(uint64_t now, uint64_t before) { return now > before ? now : 0; }

}  // namespace

JobUsage::JobUsage()
    : cpu_before_(CpuTime()),
      own_before_(MostEver(RUSAGE_SELF)),
      children_before_(MostEver(RUSAGE_CHILDREN)),
      forgets_peaks_(ForgetPeak()) {}

absl::Duration JobUsage::cpu() const { return CpuTime() - cpu_before_; }

uint64_t JobUsage::peak_bytes() const {
  const uint64_t own = forgets_peaks_ ? PeakSinceForgotten() : IfMore(MostEver(RUSAGE_SELF), own_before_);
  return std::max(own, IfMore(MostEver(RUSAGE_CHILDREN), children_before_));
}

}  // namespace tritond::workers
