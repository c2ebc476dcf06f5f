// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/device_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

// In the child, between fork and exec: only what a signal handler may call.
[[noreturn]] void Become(char* const* arguments, int descriptor, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);  // What a kernel starts ends with its process.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  fcntl(descriptor, F_SETFD, 0);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

absl::Status DeviceSession::Start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return absl::InternalError(absl::StrCat("no socket for ", device_, ": ", strerror(errno)));
  std::vector<std::string> words = options_.command;
  words.push_back(device_);
  words.push_back(absl::StrCat(ends[1]));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t self = getpid();
  pid_ = fork();
  if (pid_ == 0) Become(arguments.data(), ends[1], self);
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    return absl::InternalError(absl::StrCat("no process for ", device_, ": ", strerror(errno)));
  }
  pipe_ = std::make_unique<MessagePipe>(ends[0]);
  return absl::OkStatus();
}

absl::StatusOr<v1::Hello::Device> DeviceSession::Open() {
  if (is_open()) return description_;
  if (absl::Status started = Start(); !started.ok()) return started;
  v1::DeviceReply greeting;
  const absl::Status received = pipe_->Receive(&greeting, options_.open_limit);
  if (!received.ok()) {
    const std::string how = Bury();
    return absl::InternalError(
        absl::StrCat(device_, " does not open: ", absl::IsDeadlineExceeded(received) ? "no answer in time" : how));
  }
  if (greeting.code() != 0) {
    End();
    return absl::Status(static_cast<absl::StatusCode>(greeting.code()), greeting.message());
  }
  description_ = greeting.device();
  return description_;
}

absl::StatusOr<v1::DeviceReply> DeviceSession::Ask(const v1::DeviceCommand& command, absl::Duration within) {
  if (!is_open()) return absl::AbortedError("its process has ended");
  absl::Status status = pipe_->Send(command, within);
  v1::DeviceReply reply;
  if (status.ok()) status = pipe_->Receive(&reply, within);
  if (status.ok()) return reply;
  const std::string how = Bury();
  if (absl::IsDeadlineExceeded(status))
    return absl::DeadlineExceededError(
        absl::StrCat("it ran longer than ", absl::FormatDuration(within), ", and its process was ended"));
  return absl::AbortedError(absl::StrCat("the process that ran it ", how));
}

void DeviceSession::End() { Bury(); }

std::string DeviceSession::Bury() {
  pipe_.reset();
  if (pid_ < 0) return "has ended";
  // One that ends by itself does so soon after its pipe; one that hangs does not.
  int status = 0;
  pid_t reaped = 0;
  for (int i = 0; i < 20 && reaped == 0; ++i) {
    reaped = waitpid(pid_, &status, WNOHANG);
    if (reaped == 0) poll(nullptr, 0, 5);
  }
  kill(-pid_, SIGKILL);
  const bool ours = reaped == 0;
  if (ours) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  if (!ours && WIFSIGNALED(status))
    return absl::StrCat("was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  if (!ours && WIFEXITED(status)) return absl::StrCat("exited with status ", WEXITSTATUS(status));
  return "was ended";
}

}  // namespace tritond::workers
