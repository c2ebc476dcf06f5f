// SPDX-License-Identifier: Apache-2.0
// The program ptxas. It reads and writes memory files (memfd_create) under /proc/self/fd, so that a worker without any
// writable folder can use it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/memory_file.h"
#include "compiler/targets/nvidia/assembler.h"

namespace tritond::compiler::nvidia {
namespace {

// A file in memory that a child process can open by Path().
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(CreateMemoryFile(name)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  std::string Path() const { return absl::StrCat("/proc/self/fd/", fd_); }

  bool Write(absl::string_view text) {
    while (!text.empty()) {
      ssize_t written = write(fd_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(written);
    }
    return true;
  }

  std::string Contents() const {
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

 private:
  int fd_;
};

struct Outcome {
  int status = 0;   // as waitpid gives it
  std::string log;  // stdout and stderr
};

// Starts the program with an empty environment, `log` as its stdout and stderr, and `inherited` under the same numbers.
// It dies with the thread that started it, so that a worker which is killed leaves no ptxas behind; posix_spawn cannot
// say that. It may take `cpu_seconds` of processor time (0: any). Between vfork and execve the child has our memory,
// and only calls what a signal handler may. The errno of a failure is left in `error`.
pid_t Start(const std::vector<std::string>& command, int log, const std::vector<int>& inherited, int cpu_seconds,
            volatile int* error) {
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
    dup2(log, STDOUT_FILENO);
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

// Runs the program to its end.
absl::StatusOr<Outcome> RunProgram(const std::vector<std::string>& command, const std::vector<int>& inherited,
                                   int cpu_seconds) {
  MemoryFile log("log");
  if (!log.ok()) return absl::InternalError(absl::StrCat("memfd_create: ", strerror(errno)));
  volatile int error = 0;
  const pid_t pid = Start(command, log.fd(), inherited, cpu_seconds, &error);
  if (pid < 0) return absl::NotFoundError(absl::StrCat("start ", command[0], ": ", strerror(error)));
  Outcome outcome;
  while (waitpid(pid, &outcome.status, 0) < 0) {
    if (errno != EINTR) return absl::InternalError(absl::StrCat("wait for ", command[0], ": ", strerror(errno)));
  }
  if (error != 0) return absl::NotFoundError(absl::StrCat("start ", command[0], ": ", strerror(error)));
  outcome.log = log.Contents();
  return outcome;
}

class PtxasAssembler final : public Assembler {
 public:
  PtxasAssembler(std::string path, int major, int minor) : path_(std::move(path)), major_(major), minor_(minor) {}

  std::string Name() const override { return absl::StrCat("ptxas ", major_, ".", minor_, " (", path_, ")"); }
  int PtxVersion() const override { return PtxVersionOfCuda(major_, minor_); }
  std::string Path() const override { return path_; }
  bool IsProgram() const override { return true; }

  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const override {
    MemoryFile in("kernel.ptx"), out("kernel.cubin");
    if (!in.ok() || !out.ok() || !in.Write(ptx)) {
      return absl::InternalError(absl::StrCat("memory file for ptxas: ", strerror(errno)));
    }
    std::vector<std::string> command = {path_, "-v", absl::StrCat("--gpu-name=", options.arch), "--opt-level=3"};
    if (!options.fp_fusion) command.push_back("--fmad=false");
    if (options.line_info) command.push_back("--generate-line-info");
    command.insert(command.end(), options.extra.begin(), options.extra.end());
    command.insert(command.end(), {in.Path(), "--output-file", out.Path()});
    absl::StatusOr<Outcome> outcome = RunProgram(command, {in.fd(), out.fd()}, options.cpu_seconds);
    if (!outcome.ok()) return outcome.status();
    // Descriptors' numbers depend on what else this process has open; a message must not.
    const std::string log =
        absl::StrReplaceAll(outcome->log, {{in.Path(), "kernel.ptx"}, {out.Path(), "kernel.cubin"}});
    if (WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGXCPU) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Name(), " takes more than ", options.cpu_seconds,
                       " s of processor time for this kernel; with more warps each thread has less to do"));
    }
    if (WIFSIGNALED(outcome->status)) {
      return absl::InternalError(absl::StrCat(Name(), " died of signal ", WTERMSIG(outcome->status), ": ", log));
    }
    if (WEXITSTATUS(outcome->status) != 0) return AssemblyError(Name(), log);
    return out.Contents();
  }

 private:
  std::string path_;
  int major_, minor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Assembler>> OpenPtxas(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  absl::StatusOr<Outcome> outcome = RunProgram({path, "--version"}, {}, /*cpu_seconds=*/10);
  if (!outcome.ok()) return outcome.status();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  const size_t at = outcome->log.find("release ");
  int major = 0, minor = 0;
  if (at == std::string::npos || sscanf(outcome->log.c_str() + at, "release %d.%d", &major, &minor) != 2) {
    return absl::NotFoundError(absl::StrCat(path, " does not tell its version"));
  }
  return std::make_unique<PtxasAssembler>(path, major, minor);
}

}  // namespace tritond::compiler::nvidia
