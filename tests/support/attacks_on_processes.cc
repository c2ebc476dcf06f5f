// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/attack_outcome.h"
#include "tests/support/attacks.h"

namespace tritond::tests {
namespace {

std::string Proc(pid_t pid, const char* entry) { return "/proc/" + std::to_string(pid) + "/" + entry; }

int Open(const std::string& path, int flags) { return Outcome(open(path.c_str(), flags | O_CLOEXEC)); }

int Trace(const Prey& p) {
  if (ptrace(PTRACE_SEIZE, p.victim, nullptr, nullptr) != 0) return errno;
  return 0;  // With this process the tracing ends.
}

// Somewhere in the victim: its auxiliary vector is at the end of its stack, which is a copy of ours.
int ReadMemory(const Prey& p) {
  char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(getauxval(AT_SYSINFO_EHDR)), 1};
  const ssize_t count = process_vm_readv(p.victim, &here, 1, &there, 1, 0);
  return count == 1 || (count < 0 && errno == EFAULT) ? 0 : Outcome(count);
}

int WriteMemory(const Prey& p) {
  char byte = 0;
  iovec here{&byte, 1}, there{nullptr, 1};
  const ssize_t count = process_vm_writev(p.victim, &here, 1, &there, 1, 0);
  return count < 0 && errno == EFAULT ? 0 : Outcome(count);  // It may, were there anything.
}

int SignalByDescriptor(const Prey& p) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, p.victim, 0));
  return fd < 0 ? errno : Outcome(syscall(SYS_pidfd_send_signal, fd, SIGWINCH, nullptr, 0));
}

int SignalByProc(const Prey& p) {
  const int fd = open(Proc(p.victim, "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? errno : Outcome(syscall(SYS_pidfd_send_signal, fd, SIGWINCH, nullptr, 0));
}

// A file's owner gets a signal of choice when there is something to read.
int SignalByOwner(const Prey& p) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  if (fcntl(ends[0], F_SETOWN, p.victim) != 0 || fcntl(ends[0], F_SETSIG, SIGWINCH) != 0) return errno;
  return Outcome(fcntl(ends[0], F_SETFL, O_ASYNC));
}

int Queue(const Prey& p) {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  return Outcome(syscall(SYS_rt_sigqueueinfo, p.victim, SIGWINCH, &info));
}

int StealDescriptor(const Prey& p) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, p.victim, 0));
  return fd < 0 ? errno : Outcome(syscall(SYS_pidfd_getfd, fd, 0, 0));
}

int Affinity(const Prey& p) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return errno;
  return Outcome(sched_setaffinity(p.victim, sizeof(set), &set));
}

int Limits(const Prey& p) {
  rlimit limit{};
  return Outcome(prlimit(p.victim, RLIMIT_NOFILE, nullptr, &limit));
}

int Schedule(const Prey& p) {
  sched_param parameters{};
  return Outcome(sched_setscheduler(p.victim, SCHED_BATCH, &parameters));
}

// Runs a program of the system in a child; 0 when it did. Never a program of ours: that might try attacks itself.
int Run(const char* program, const char* argument) {
  const pid_t child = fork();
  if (child == 0) {
    char* arguments[] = {const_cast<char*>(program), const_cast<char*>(argument), nullptr};
    char* environment[] = {nullptr};
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execve(program, arguments, environment);
    _exit(100 + std::min(errno, 100));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) && WEXITSTATUS(status) < 100 ? 0 : WEXITSTATUS(status) - 100;
}

// The bytes of a program in memory.
int CopyProgram(unsigned flags) {
  const int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
  const int to = memfd_create("program", flags);
  if (to < 0) return -1;
  // Where there is nothing to copy from, a program that ends at once, written by hand, does.
  static constexpr char kShebang[] = "#!/bin/true\n";
  char buffer[1 << 14];
  ssize_t count = from < 0 ? 0 : read(from, buffer, sizeof(buffer));
  if (count <= 0) return write(to, kShebang, sizeof(kShebang) - 1) > 0 ? to : -1;
  for (; count > 0; count = read(from, buffer, sizeof(buffer))) {
    if (write(to, buffer, count) != count) return -1;
  }
  return to;
}

int RunMemoryFile(const Prey&) {
  const int program = CopyProgram(0);
  char* none[] = {const_cast<char*>("true"), nullptr};
  if (program < 0) return errno;
  // A program that still has its file open for writing is busy.
  const int again = open(("/proc/self/fd/" + std::to_string(program)).c_str(), O_RDONLY);
  close(program);
  if (again < 0) return errno;
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, again, "", none, none + 1, AT_EMPTY_PATH);
    _exit(100 + std::min(errno, 100));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) && WEXITSTATUS(status) < 100 ? 0 : WEXITSTATUS(status) - 100;
}

int RunMemoryFileByPath(const Prey&) {
  int program = CopyProgram(0);
  if (program < 0) program = CopyProgram(0x0008U);  // MFD_NOEXEC_SEAL, which the filter wants
  if (program < 0) return errno;
  const int again = open(("/proc/self/fd/" + std::to_string(program)).c_str(), O_RDONLY);
  close(program);
  return again < 0 ? errno : Run(("/proc/self/fd/" + std::to_string(again)).c_str(), nullptr);
}

// The environment that this process was given lies below its program's name, whatever the C library thinks of it now.
int ReadEnvironment(const Prey&) {
  if (getenv("TRITOND_ATTACK_SECRET") != nullptr) return 0;
  const std::string wanted = std::string("ATTACK_") + "SECRET=";
  const char* end = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  // The strings of the environment end there; those that were wiped are zeros.
  constexpr size_t kReach = 1 << 12;
  return memmem(end - kReach, kReach, wanted.data(), wanted.size()) == nullptr ? ENOENT : 0;
}

}  // namespace

std::vector<Attack> AttacksOnProcesses() {
  return {
      {"environment_of_the_daemon", [](const Prey& p) { return Read(Proc(p.daemon, "environ")); }, Needs::kRoot},
      {"memory_of_the_daemon", [](const Prey& p) { return Open(Proc(p.daemon, "mem"), O_RDWR); }, Needs::kRoot},
      {"descriptors_of_the_daemon", [](const Prey& p) { return List(Proc(p.daemon, "fd")); }, Needs::kRoot},
      {"root_of_the_daemon", [](const Prey& p) { return Read(Proc(p.daemon, "root/etc/passwd")); }, Needs::kRoot},
      {"environment_of_a_process", [](const Prey& p) { return Read(Proc(p.victim, "environ")); }},
      {"memory_of_a_process", [](const Prey& p) { return Open(Proc(p.victim, "mem"), O_RDWR); }},
      {"root_of_a_process", [](const Prey& p) { return Read(Proc(p.victim, "root/etc/passwd")); }},
      {"descriptors_of_a_process", [](const Prey& p) { return Open(Proc(p.victim, "fd/0"), O_RDONLY); }},
      {"score_of_a_process", [](const Prey& p) { return Open(Proc(p.victim, "oom_score_adj"), O_WRONLY); }},
      {"ptrace", Trace},
      {"process_vm_readv", ReadMemory},
      {"process_vm_writev", WriteMemory},
      {"process_madvise",
       [](const Prey& p) {
         iovec range{nullptr, 0};
         const int fd = static_cast<int>(syscall(SYS_pidfd_open, p.victim, 0));
         return fd < 0 ? errno : Outcome(syscall(SYS_process_madvise, fd, &range, 1, MADV_COLD, 0));
       },
       Needs::kSystem},
      {"kcmp", [](const Prey& p) { return Outcome(syscall(SYS_kcmp, getpid(), p.victim, KCMP_VM, 0, 0)); },
       Needs::kSystem},
      {"look_for_the_daemon", [](const Prey& p) { return Outcome(kill(p.daemon, 0)); }},
      {"signal_a_process", [](const Prey& p) { return Outcome(kill(p.victim, SIGWINCH)); }},
      {"signal_the_supervisor", [](const Prey&) { return Outcome(kill(getppid(), 0) == 0 ? kill(1, 0) : -1); },
       Needs::kRoot},
      {"signal_a_thread", [](const Prey& p) { return Outcome(syscall(SYS_tgkill, p.victim, p.victim, SIGWINCH)); }},
      {"signal_any_thread", [](const Prey& p) { return Outcome(syscall(SYS_tkill, p.victim, SIGWINCH)); }},
      {"queue_a_signal", Queue},
      {"signal_by_a_descriptor", SignalByDescriptor},
      {"signal_by_proc", SignalByProc},
      {"signal_by_the_owner_of_a_file", SignalByOwner},
      {"take_a_descriptor", StealDescriptor, Needs::kSystem},
      {"processors_of_a_process", Affinity},
      {"priority_of_a_process", [](const Prey& p) { return Outcome(setpriority(PRIO_PROCESS, p.victim, 1)); }},
      {"limits_of_a_process", Limits},
      {"scheduler_of_a_process", Schedule, Needs::kSystem},
      {"run_a_shell", [](const Prey&) { return Run("/bin/sh", nullptr); }},
      {"run_as_another_user", [](const Prey&) { return Run("/bin/mount", "--version"); }, Needs::kSystem},
      {"run_a_memory_file", RunMemoryFile},
      {"run_a_memory_file_by_its_path", RunMemoryFileByPath, Needs::kSystem},
      {"secret_of_the_environment", ReadEnvironment, Needs::kSystem},
  };
}

}  // namespace tritond::tests
