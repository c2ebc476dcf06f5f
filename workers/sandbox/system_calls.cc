// SPDX-License-Identifier: Apache-2.0
#include "workers/sandbox/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace tritond::workers {
namespace {

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

// What neither a worker nor its assembler can do without, on any path. None of them takes a process, and paths are
// limited elsewhere. Nothing here changes a file's mode, owner, times or attributes.
constexpr const char* kAllowed[] = {
    // Files that are open, or may be opened.
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "lseek", "_llseek", "close",
    "close_range", "dup", "dup2", "dup3", "open", "openat", "stat", "stat64", "lstat", "lstat64", "fstat", "fstat64",
    "newfstatat", "fstatat64", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getcwd", "chdir", "getdents64", "fadvise64", "pipe", "pipe2", "umask",
    // Memory.
    "brk", "mmap", "mmap2", "munmap", "mprotect", "mremap", "madvise", "mincore", "mlock", "munlock", "membarrier",
    "mseal", "map_shadow_stack",
    // Threads and processes of its own.
    "futex", "futex_wait", "futex_wake", "futex_requeue", "futex_waitv", "set_robust_list", "get_robust_list", "rseq",
    "set_tid_address", "arch_prctl", "fork", "vfork", "exit", "exit_group", "wait4", "waitid", "sched_yield",
    "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
    "getcpu", "getpid", "getppid", "gettid", "getpgrp", "getpgid", "getuid", "geteuid", "getgid", "getegid",
    "getresuid", "getresgid", "getgroups", "getrlimit", "setrlimit", "getrusage", "getpriority", "capget",
    "personality",
    // Signals that come.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "pause", "restart_syscall", "signalfd4",
    // Time, and waiting.
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "alarm",
    "setitimer", "getitimer", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
    "timerfd_create", "timerfd_settime", "timerfd_gettime", "poll", "ppoll", "select", "_newselect", "pselect6",
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2",
    // What is known to everyone.
    "uname", "sysinfo", "getrandom",
    // A socket that is open, and pairs. None is made to somebody else by these.
    "socketpair", "sendmsg", "recvmsg", "sendto", "recvfrom", "sendmmsg", "recvmmsg", "shutdown", "getsockopt",
    "setsockopt", "getsockname", "getpeername",
    // To forbid itself more.
    "seccomp"};

// What a worker needs to dial, and a compiler never. It listens nowhere.
constexpr const char* kSockets[] = {"socket", "connect", "bind"};

// Refused in words, where a caller looks for them: the ways out of a process.
constexpr const char* kForbidden[] = {
    // Its connections pass no filter, so it goes as a whole.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_open",
    "pidfd_getfd", "kcmp", "userfaultfd", "perf_event_open", "sched_setaffinity", "sched_setattr", "sched_setscheduler",
    "sched_setparam", "setpriority", "ioprio_set", "setsid", "move_pages", "migrate_pages",
    // What it may run, and as whom.
    "execveat", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
    "setgroups", "capset",
    // Files, beside opening them.
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat",
    "futimesat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
    "removexattrat", "truncate", "mknod", "mknodat", "link", "linkat", "symlink", "symlinkat", "open_by_handle_at",
    "name_to_handle_at", "inotify_init", "inotify_init1", "fanotify_init", "memfd_secret", "swapon", "swapoff",
    // What processes share.
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open",
    "mq_unlink", "add_key", "keyctl", "request_key", "listen", "accept", "accept4",
    // The machine.
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "fsopen", "fspick", "fsconfig", "fsmount",
    "move_mount", "open_tree", "mount_setattr", "bpf", "kexec_load", "kexec_file_load", "init_module", "finit_module",
    "delete_module", "reboot", "acct", "quotactl", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
    "sethostname", "setdomainname", "syslog", "iopl", "ioperm"};

// What temporary files take.
constexpr const char* kFolderCalls[] = {"rename", "renameat", "renameat2", "unlink",    "unlinkat",
                                        "mkdir",  "mkdirat",  "rmdir",     "ftruncate", "fallocate"};

// clone may make threads and processes, none of them in a namespace of its own or its parent's child.
constexpr uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                 CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT;

// Of prctl, what concerns this process or thread alone.
constexpr int kOwnControls[] = {PR_SET_PDEATHSIG, PR_GET_PDEATHSIG,    PR_GET_DUMPABLE,     PR_SET_NAME,
                                PR_GET_NAME,      PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_SECCOMP,
                                PR_GET_SECCOMP,   0x53564d41 /* PR_SET_VMA */};

// Of fcntl, all but what lets the kernel send signals to any process (owners of files) or watches folders.
constexpr int kFileControls[] = {F_DUPFD,      F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,     F_GETFL,
                                 F_GETLK,      F_SETLK,         F_SETLKW,     F_OFD_GETLK, F_OFD_SETLK,
                                 F_OFD_SETLKW, F_GETPIPE_SZ,    F_SETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS};
// O_ASYNC comes with them, for the owner that a file has.
constexpr uint64_t kAsync = O_ASYNC;

// Of ioctl, what asks about or sets an open file. None types into a terminal.
constexpr uint64_t kFileRequests[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};

// A filter that is being written. The first error sticks.
class Filter final {
 public:
  explicit Filter(uint32_t otherwise) : filter_(seccomp_init(otherwise), [](void* f) { seccomp_release(f); }) {
    if (filter_ != nullptr) error_ = seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    // A tree of comparisons in place of a chain: it is passed at each call.
    if (filter_ != nullptr) seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }

  void Add(uint32_t action, absl::Span<const char* const> calls) {
    for (const char* call : calls) Add(action, call, {});
  }
  // Calls that this library or architecture does not know are passed over.
  void Add(uint32_t action, const char* name, const std::vector<scmp_arg_cmp>& arguments) {
    const int call = seccomp_syscall_resolve_name(name);
    if (filter_ == nullptr || call == __NR_SCMP_ERROR || call < 0 || error_ != 0) return;
    error_ = seccomp_rule_add_array(filter_.get(), action, call, arguments.size(), arguments.data());
  }
  absl::Status Load() {
    if (filter_ == nullptr) return absl::FailedPreconditionError("cannot make a seccomp filter");
    if (error_ == 0) error_ = seccomp_load(filter_.get());
    if (error_ == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("seccomp: ", strerror(-error_)));
  }

 private:
  std::unique_ptr<void, void (*)(void*)> filter_;
  int error_ = 0;
};

constexpr uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);

void AddSignals(const SystemCallPolicy& policy, Filter* filter) {
  for (const char* call : {"tkill", "pidfd_send_signal"})  // They do not say whose thread or process it is.
    filter->Add(policy.may_signal ? SCMP_ACT_ALLOW : kRefuse, call, {});
  for (const char* call : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    if (policy.may_signal) {
      filter->Add(SCMP_ACT_ALLOW, call, {});
    } else {
      filter->Add(SCMP_ACT_ALLOW, call, {SCMP_A0_64(SCMP_CMP_EQ, static_cast<uint64_t>(getpid()), 0)});
      filter->Add(SCMP_ACT_ALLOW, call, {SCMP_A0_64(SCMP_CMP_EQ, 0, 0)});
    }
  }
  // A group of its own, never somebody else's.
  filter->Add(SCMP_ACT_ALLOW, "setpgid", {SCMP_A1_64(SCMP_CMP_EQ, 0, 0)});
}

}  // namespace

bool HasUnrunnableMemoryFiles() {
  const int file = memfd_create("probe", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  if (file >= 0) close(file);
  return file >= 0;
}

absl::Status AllowOnlyWorkersCalls(const SystemCallPolicy& policy) {
  Filter filter(SCMP_ACT_ERRNO(ENOSYS));
  filter.Add(SCMP_ACT_ALLOW, kAllowed);
  filter.Add(SCMP_ACT_ALLOW, kSockets);
  filter.Add(kRefuse, kForbidden);
  filter.Add(policy.may_change_folders ? SCMP_ACT_ALLOW : kRefuse, kFolderCalls);
  AddSignals(policy, &filter);
  filter.Add(policy.may_run_programs ? SCMP_ACT_ALLOW : kRefuse, "execve", {});
  // clone3 passes its flags in memory, where no filter sees them; without it libraries use clone.
  filter.Add(SCMP_ACT_ALLOW, "clone", {SCMP_A0_64(SCMP_CMP_MASKED_EQ, kNamespaces, 0)});
  for (const int control : kOwnControls)
    filter.Add(SCMP_ACT_ALLOW, "prctl", {SCMP_A0_64(SCMP_CMP_EQ, static_cast<uint64_t>(control), 0)});
  for (const int control : kFileControls)
    filter.Add(SCMP_ACT_ALLOW, "fcntl", {SCMP_A1_64(SCMP_CMP_EQ, static_cast<uint64_t>(control), 0)});
  filter.Add(SCMP_ACT_ALLOW, "fcntl", {SCMP_A1_64(SCMP_CMP_EQ, F_SETFL, 0), SCMP_A2_64(SCMP_CMP_MASKED_EQ, kAsync, 0)});
  for (const uint64_t request : kFileRequests)
    filter.Add(SCMP_ACT_ALLOW, "ioctl", {SCMP_A1_64(SCMP_CMP_EQ, request, 0)});
  filter.Add(SCMP_ACT_ALLOW, "prlimit64", {SCMP_A0_64(SCMP_CMP_EQ, 0, 0)});
  if (HasUnrunnableMemoryFiles()) {
    filter.Add(SCMP_ACT_ALLOW, "memfd_create", {SCMP_A1_64(SCMP_CMP_MASKED_EQ, MFD_NOEXEC_SEAL, MFD_NOEXEC_SEAL)});
  } else {
    filter.Add(SCMP_ACT_ALLOW, "memfd_create", {});
  }
  return filter.Load();
}

absl::Status ForbidSockets() {
  Filter filter(SCMP_ACT_ALLOW);
  filter.Add(kRefuse, kSockets);
  return filter.Load();
}

}  // namespace tritond::workers
