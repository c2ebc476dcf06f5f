// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

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

// What a worker needs to dial, and a compiler never.
constexpr const char* kSockets[] = {"socket", "connect", "bind", "listen", "accept", "accept4"};

// What neither needs.
constexpr const char* kForbidden[] = {
    // Its connections pass no filter, so it goes as a whole.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "userfaultfd",
    "perf_event_open",
    // The machine.
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "fsopen", "fsconfig", "fsmount", "move_mount",
    "open_tree", "mount_setattr", "open_by_handle_at", "bpf", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "settimeofday", "clock_settime",
    "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "add_key", "keyctl", "request_key"};

// No file that a compile writes is larger.
constexpr rlim_t kMaxFileBytes = rlim_t{1} << 30;

absl::Status Forbid(absl::Span<const char* const> calls) {
  std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_ALLOW), [](void* f) { seccomp_release(f); });
  if (filter == nullptr) return absl::FailedPreconditionError("cannot make a seccomp filter");
  int error = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  for (const char* name : calls) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || error != 0) continue;
    error = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
  }
  if (error == 0) error = seccomp_load(filter.get());
  if (error == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("seccomp: ", strerror(-error)));
}

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

absl::Status EnterSandbox() {
  // Its memory in /proc is not for other workers of its user, nor theirs for it.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return absl::InternalError("cannot keep its memory to itself");
  return Forbid(kForbidden);
}

absl::Status ForbidSockets() { return Forbid(kSockets); }

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
