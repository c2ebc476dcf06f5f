// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/run_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/targets/memory_file.h"

namespace tritond::compiler {
namespace {

// Starts the program with an empty environment, `output` and `log` as its stdout and stderr, and `inherited` under the
// same numbers. It dies with the thread that started it, so that a worker which is killed leaves no program behind;
// posix_spawn cannot say that. It may take `cpu_seconds` of processor time (0: any). Between vfork and execve the child
// has our memory, and only calls what a signal handler may. The errno of a failure is left in `error`.
pid_t Start(const std::vector<std::string>& command, int output, int log, const std::vector<int>& inherited,
            int cpu_seconds, volatile int* error) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  *error = 0;
  const pid_t pid = vfork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit time = {static_cast<rlim_t>(cpu_seconds), static_cast<rlim_t>(cpu_seconds) + 5};
    if (cpu_seconds > 0) setrlimit(RLIMIT_CPU, &time);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    for (int fd : inherited) fcntl(fd, F_SETFD, 0);  // The table of open files is the child's own.
    execve(argv[0], argv.data(), environment);
    *error = errno;
    _exit(127);
  }
  if (pid < 0) *error = errno;
  if (nothing >= 0) close(nothing);
  return pid;
}

}  // namespace

MemoryFile::MemoryFile(const char* name) : fd_(CreateMemoryFile(name)) {}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

std::string MemoryFile::Path() const { return absl::StrCat("/proc/self/fd/", fd_); }

bool MemoryFile::Write(absl::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(written);
  }
  return true;
}

std::string MemoryFile::Contents() const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return "";
  std::string bytes(info.st_size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = pread(fd_, bytes.data() + done, bytes.size() - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

absl::StatusOr<ProgramEnd> RunProgram(const std::vector<std::string>& command, const std::vector<int>& inherited,
                                      int cpu_seconds) {
  MemoryFile output("output"), log("log");
  if (!output.ok() || !log.ok()) return absl::InternalError(absl::StrCat("memfd_create: ", strerror(errno)));
  volatile int error = 0;
  const pid_t pid = Start(command, output.fd(), log.fd(), inherited, cpu_seconds, &error);
  if (pid < 0) return absl::NotFoundError(absl::StrCat("start ", command[0], ": ", strerror(error)));
  ProgramEnd outcome;
  while (waitpid(pid, &outcome.status, 0) < 0) {
    if (errno != EINTR) return absl::InternalError(absl::StrCat("wait for ", command[0], ": ", strerror(errno)));
  }
  if (error != 0) return absl::NotFoundError(absl::StrCat("start ", command[0], ": ", strerror(error)));
  outcome.output = output.Contents();
  outcome.log = log.Contents();
  return outcome;
}

}  // namespace tritond::compiler
