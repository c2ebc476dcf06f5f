// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

absl::Status SetLimit(int resource, const char* name, rlim_t value) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? value : std::min<rlim_t>(value, limit.rlim_max);
  limit.rlim_max = limit.rlim_cur;
  if (setrlimit(resource, &limit) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot limit ", name, ": ", strerror(errno)));
}

absl::Duration FromTimeval(const timeval& time) { return absl::DurationFromTimeval(time); }

// No file that a compile writes is larger.
constexpr rlim_t kMaxFileBytes = rlim_t{1} << 30;

}  // namespace

absl::Status LimitProcess(uint64_t memory_bytes) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return absl::InternalError("cannot renounce new privileges");
  std::set_new_handler([] {
    constexpr char kText[] = "out of memory: the compile needs more than this worker may use (--memory-limit-mb)\n";
    static_cast<void>(!write(2, kText, sizeof(kText) - 1));
    abort();
  });
  absl::Status status = SetLimit(RLIMIT_CORE, "core dumps", 0);
  if (status.ok()) status = SetLimit(RLIMIT_NOFILE, "open files", 512);
  if (status.ok()) status = SetLimit(RLIMIT_FSIZE, "the size of files", kMaxFileBytes);
  if (status.ok() && memory_bytes != 0) status = SetLimit(RLIMIT_AS, "memory", memory_bytes);
  return status;
}

void BoundCpuTime(absl::Duration more) {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  const absl::Duration until = FromTimeval(own.ru_utime) + FromTimeval(own.ru_stime) + more;
  limit.rlim_cur = static_cast<rlim_t>(absl::ToInt64Seconds(until)) + 1;
  setrlimit(RLIMIT_CPU, &limit);
}

absl::Duration CpuTime() {
  absl::Duration total;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += FromTimeval(usage.ru_utime) + FromTimeval(usage.ru_stime);
  }
  return total;
}

uint64_t ResidentBytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t count = read(file, text, sizeof(text) - 1);
  close(file);
  if (count <= 0) return 0;
  char* pages = strchr(text, ' ');
  return pages == nullptr ? 0 : strtoull(pages, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace tritond::workers
