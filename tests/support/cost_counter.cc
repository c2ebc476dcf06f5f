// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cost_counter.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>

namespace tritond::tests {
namespace {

constexpr int kTimedRuns = 5;

double ThreadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

CostCounter::CostCounter() {
  // Pages that the allocator returns and fetches again cost time in the kernel, and only large inputs make it do so.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.disabled = 1;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  fd_ = static_cast<int>(syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  // Some virtual machines let it be opened and never count.
  if (fd_ >= 0 && Once([] {
                    volatile int sum = 0;
                    for (int i = 0; i < 10000; ++i) sum = sum + i;
                  }) < 10000) {
    close(fd_);
    fd_ = -1;
  }
}

CostCounter::~CostCounter() {
  if (fd_ >= 0) close(fd_);
}

double CostCounter::CostOf(const std::function<void()>& work) const {
  double least = Once(work);
  for (int i = 1; fd_ < 0 && i < kTimedRuns; ++i) least = std::min(least, Once(work));
  return least;
}

double CostCounter::Once(const std::function<void()>& work) const {
  if (fd_ < 0) {
    const double before = ThreadNanoseconds();
    work();
    return ThreadNanoseconds() - before;
  }
  ioctl(fd_, PERF_EVENT_IOC_RESET, 0);
  ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0);
  work();
  ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
  uint64_t count = 0;
  return read(fd_, &count, sizeof(count)) == sizeof(count) ? static_cast<double>(count) : 0;
}

}  // namespace tritond::tests
