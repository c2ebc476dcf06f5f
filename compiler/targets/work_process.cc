// SPDX-License-Identifier: Apache-2.0
// Two pipes: requests to the process, answers from it, each a header and bytes. A request that is abandoned ends by the
// death of the process, which this side sees as the end of the answers.
//
// The process is forked from the one thread that asks, so `work` must not need the other threads. It closes every
// descriptor but its pipes and the standard ones. When the thread that made it is gone it gets SIGTERM, whose handler
// kills the group. So nothing is left of a worker that was killed while an assembler ran, whatever that had started.
#include "compiler/targets/work_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "compiler/targets/compile_children.h"

namespace tritond::compiler {
namespace {

struct RequestHeader {
  uint64_t size = 0;
  int cpu_seconds = 0;
};

struct AnswerHeader {
  uint64_t size = 0;
  int code = 0;
  int64_t cpu_ns = 0;
  uint64_t peak_bytes = 0;
};

bool WriteAll(int fd, const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = write(fd, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= count;
  }
  return true;
}

bool ReadAll(int fd, void* data, size_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = read(fd, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= count;
  }
  return true;
}

// While it lives, writing into a pipe that nobody reads is an error and no signal to this thread.
class PipeSignalHeld final {
 public:
  PipeSignalHeld() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~PipeSignalHeld() {
    const timespec now{};
    while (!sigismember(&before_, SIGPIPE) && sigtimedwait(&set_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_, before_;
};

absl::Duration CpuTime() {
  absl::Duration total;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
  }
  return total;
}

uint64_t PeakBytes() {
  uint64_t peak = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    peak = std::max(peak, static_cast<uint64_t>(usage.ru_maxrss) << 10);
  }
  return peak;
}

// What a request has freed serves the next one, as far as these go. Left alone, the allocator gives it back to the
// system many times while an assembler works, and each page that comes again costs a fault.
constexpr int kKeptBytes = 64 << 20, kLargeBytes = 32 << 20;

void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
}

void KillGroup(int) { kill(0, SIGKILL); }

// What a copy of a worker's thread has and this process must not: handlers and masks of signals, core dumps, files.
void LeaveParent(pid_t parent, int requests, int answers) {
  setpgid(0, 0);
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGXCPU, SIGALRM, SIGINT, SIGCHLD})
    signal(number, SIG_DFL);
  signal(SIGTERM, KillGroup);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(0);  // It was gone before that.
  rlimit cores{};
  if (getrlimit(RLIMIT_CORE, &cores) == 0) {
    cores.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &cores);
  }
  const unsigned low = std::min(requests, answers), high = std::max(requests, answers);
  if (low > 3) close_range(3, low - 1, 0);
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0u, 0);
}

void BoundCpuTime(int seconds) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  const rlim_t until = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 + static_cast<rlim_t>(seconds);
  limit.rlim_cur = std::min(limit.rlim_max, until);
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

WorkProcess::WorkProcess(std::string what, Work work) : what_(std::move(what)), work_(std::move(work)) {}

WorkProcess::~WorkProcess() { End(); }

void WorkProcess::Serve(int requests, int answers) noexcept {
  RequestHeader request;
  while (ReadAll(requests, &request, sizeof(request))) {
    std::string bytes(request.size, '\0');
    if (!ReadAll(requests, bytes.data(), bytes.size())) break;
    BoundCpuTime(request.cpu_seconds);
    const absl::Duration cpu = CpuTime();
    const uint64_t peak = PeakBytes();
    absl::StatusOr<std::string> result = work_(bytes);
    const absl::string_view text = result.ok() ? absl::string_view(*result) : result.status().message();
    AnswerHeader answer;
    answer.size = text.size();
    answer.code = static_cast<int>(result.status().code());
    answer.cpu_ns = absl::ToInt64Nanoseconds(CpuTime() - cpu);
    answer.peak_bytes = PeakBytes() > peak ? PeakBytes() : 0;
    if (!WriteAll(answers, &answer, sizeof(answer)) || !WriteAll(answers, text.data(), text.size())) break;
  }
  kill(0, SIGKILL);
  _exit(0);
}

absl::Status WorkProcess::Start() {
  if (pid_ != 0) {
    siginfo_t ended{};
    const bool runs = waitid(P_PID, pid_, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
    if (runs && maker_ == gettid()) return absl::OkStatus();
    End();
  }
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0) return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  if (pipe2(answers, O_CLOEXEC) != 0) {
    const int error = errno;
    for (int fd : requests) close(fd);
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(error)));
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    LeaveParent(parent, requests[0], answers[1]);
    KeepFreedMemory();
    Serve(requests[0], answers[1]);
  }
  const int error = errno;
  close(requests[0]);
  close(answers[1]);
  if (child < 0) {
    close(requests[1]);
    close(answers[0]);
    return absl::ResourceExhaustedError(absl::StrCat("fork: ", strerror(error)));
  }
  setpgid(child, child);  // Both sides do it, so that it is done whoever comes first.
  pid_ = child;
  maker_ = gettid();
  requests_ = requests[1];
  answers_ = answers[0];
  return absl::OkStatus();
}

int WorkProcess::End() {
  if (pid_ == 0) return 0;
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  close(requests_);
  close(answers_);
  pid_ = 0;
  return status;
}

// `taken`: the process has read the request. Unavailable when it ends instead of answering.
absl::StatusOr<std::string> WorkProcess::Ask(absl::string_view request, int cpu_seconds, bool* taken) {
  const CompileChildren::Working working(-pid_);
  const PipeSignalHeld held;
  RequestHeader header;
  header.size = request.size();
  header.cpu_seconds = cpu_seconds;
  *taken = WriteAll(requests_, &header, sizeof(header)) && WriteAll(requests_, request.data(), request.size());
  AnswerHeader answer;
  const absl::Status ended = absl::UnavailableError(what_);
  if (!*taken || !ReadAll(answers_, &answer, sizeof(answer))) return ended;
  std::string bytes(answer.size, '\0');
  if (!ReadAll(answers_, bytes.data(), bytes.size())) return ended;
  CompileChildren::Get().AddUsage({absl::Nanoseconds(answer.cpu_ns), answer.peak_bytes});
  if (answer.code == 0) return bytes;
  // Never Unavailable, which is this function's own word.
  const auto code = static_cast<absl::StatusCode>(answer.code);
  return absl::Status(code == absl::StatusCode::kUnavailable ? absl::StatusCode::kInternal : code, bytes);
}

absl::StatusOr<std::string> WorkProcess::Run(absl::string_view request, int cpu_seconds) {
  for (bool again = false;; again = true) {
    if (absl::Status status = CompileChildren::Get().StillWanted(); !status.ok()) return status;
    if (absl::Status status = Start(); !status.ok()) return status;
    bool taken = false;
    absl::StatusOr<std::string> answer = Ask(request, cpu_seconds, &taken);
    if (!absl::IsUnavailable(answer.status())) return answer;
    const int status = End();
    if (absl::Status wanted = CompileChildren::Get().StillWanted(); !wanted.ok()) return wanted;
    // It had ended before the request came, or somebody else has killed it: neither is the request's doing.
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if ((!taken || killed) && !again) continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
      return absl::ResourceExhaustedError(
          absl::StrCat(what_, " takes more than ", cpu_seconds, " s of processor time"));
    }
    return absl::InternalError(WIFSIGNALED(status) ? absl::StrCat(what_, " died of signal ", WTERMSIG(status))
                                                   : absl::StrCat(what_, ": exit status ", WEXITSTATUS(status)));
  }
}

}  // namespace tritond::compiler
