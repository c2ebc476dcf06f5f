// SPDX-License-Identifier: Apache-2.0
// A child made by fork, and a pipe: the status's code as one byte, then the message or the bytes. The child runs on the
// copy of the one thread that forked, so `work` must not need the others: compilers do not.
#include "compiler/targets/isolated_work.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/targets/compile_children.h"

namespace tritond::compiler {
namespace {

// The process's address space now; 0 when it is not told.
uint64_t AddressSpaceBytes() {
  unsigned long pages = 0;  // NOLINT: what scanf takes
  FILE* file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return uint64_t{pages} * sysconf(_SC_PAGESIZE);
}

void Lower(decltype(RLIMIT_AS) resource, uint64_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, value);
  setrlimit(resource, &limit);
}

// It ends with the thread that made it, so that a worker which is killed leaves nothing behind. `size` is the address
// space of the process that made it: a confined child cannot read its own.
void EnterLimits(pid_t parent, const IsolationLimits& limits, uint64_t size) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (int signal_number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGXCPU, SIGALRM, SIGTERM})
    signal(signal_number, SIG_DFL);
  Lower(RLIMIT_CORE, 0);
  Lower(RLIMIT_CPU, limits.cpu_seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (size != 0) Lower(RLIMIT_AS, size + limits.memory_bytes);
#endif
}

void WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(count);
  }
}

// An exception ends the child: our callers' frames are not its to unwind.
[[noreturn]] void Answer(int fd, llvm::function_ref<absl::StatusOr<std::string>()> work) noexcept {
  absl::StatusOr<std::string> result = work();
  WriteAll(fd, std::string(1, static_cast<char>(result.status().code())));
  WriteAll(fd, result.ok() ? absl::string_view(*result) : result.status().message());
  _exit(0);
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, count);
  }
}

// Until it can be reaped, and is not yet.
void AwaitEnd(pid_t child) {
  siginfo_t ended{};
  while (waitid(P_PID, child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

}  // namespace

absl::StatusOr<std::string> RunIsolated(absl::string_view what, llvm::function_ref<absl::StatusOr<std::string>()> work,
                                        const IsolationLimits& limits) {
  CompileChildren& children = CompileChildren::Get();
  if (absl::Status status = children.StillWanted(); !status.ok()) return status;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  const pid_t parent = getpid();
  const uint64_t size = AddressSpaceBytes();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    EnterLimits(parent, limits, size);
    Answer(ends[1], work);
  }
  const int fork_error = errno;
  close(ends[1]);
  std::string answer;
  if (child > 0) {
    const CompileChildren::Working working(child);
    answer = ReadAll(ends[0]);
    AwaitEnd(child);
  }
  close(ends[0]);
  if (child < 0) return absl::ResourceExhaustedError(absl::StrCat("fork: ", strerror(fork_error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (absl::Status wanted = children.StillWanted(); !wanted.ok()) return wanted;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return absl::InvalidArgumentError(absl::StrCat(what, " takes more than ", limits.cpu_seconds, " s"));
  if (WIFSIGNALED(status)) return absl::InvalidArgumentError(absl::StrCat(what, " died of signal ", WTERMSIG(status)));
  if (answer.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": exit status ", WEXITSTATUS(status)));
  const auto code = static_cast<absl::StatusCode>(answer[0]);
  answer.erase(0, 1);
  if (code == absl::StatusCode::kOk) return answer;
  return absl::Status(code, answer);
}

}  // namespace tritond::compiler
