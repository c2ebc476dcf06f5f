// SPDX-License-Identifier: Apache-2.0
// One thread polls the children's stderr pipes and reaps them. A pipe that hangs up wakes it at once, so a death is
// noticed within milliseconds. The poll's time-out covers a grandchild that holds the pipe open.
#include "workers/pool/child_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/plain_text/plain_text.h"
#include "timing/steady/steady_time.h"
#include "workers/sandbox/environment.h"

namespace tritond::workers {
namespace {

constexpr size_t kTailLines = 20;
constexpr size_t kMaxLine = 1000;
constexpr int kPollMs = 20;

}  // namespace

std::string HowItEnded(int signal, int exit_status) {
  if (signal != 0) return absl::StrCat("signal ", signal, " (", strsignal(signal), ")");
  return absl::StrCat("exit status ", exit_status);
}

ChildProcesses::ChildProcesses(Config config, std::function<void(const ChildEnd&)> on_end,
                               std::function<void(pid_t, const std::string&)> on_line)
    : config_(std::move(config)), on_end_(std::move(on_end)), on_line_(std::move(on_line)) {}

ChildProcesses::~ChildProcesses() { Stop(absl::ZeroDuration()); }

void ChildProcesses::Start() {
  {
    absl::MutexLock lock(&mu_);
    slots_.resize(config_.count);
    for (Slot& slot : slots_) slot.child.next_start = timing::SteadyNow();
  }
  thread_ = std::thread([this] { Loop(); });
}

void ChildProcesses::Stop(absl::Duration grace, const std::set<pid_t>& at_once) {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    SignalAllLocked(SIGTERM);
    for (const Slot& slot : slots_) {
      const bool running = slot.child.state == Child::State::kRunning;
      if (running && at_once.count(slot.child.pid) != 0) kill(-slot.child.pid, SIGKILL);
    }
  }
  if (!none_runs_.WaitFor(grace)) {
    absl::MutexLock lock(&mu_);
    SignalAllLocked(SIGKILL);
  }
  thread_.join();
}

void ChildProcesses::SignalAllLocked(int signal) {
  for (Slot& slot : slots_) {
    if (slot.child.state == Child::State::kRunning) kill(-slot.child.pid, signal);
  }
}

bool ChildProcesses::AnyRunningLocked() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.child.state == Child::State::kRunning; });
}

bool ChildProcesses::Owns(pid_t pid) const {
  absl::MutexLock lock(&mu_);
  return std::any_of(slots_.begin(), slots_.end(), [pid](const Slot& slot) {
    return slot.child.state == Child::State::kRunning && slot.child.pid == pid;
  });
}

void ChildProcesses::Kill(pid_t pid) {
  absl::MutexLock lock(&mu_);  // A pid is reaped under the lock only, so it cannot be another process's.
  for (Slot& slot : slots_) {
    if (slot.child.state == Child::State::kRunning && slot.child.pid == pid) kill(-pid, SIGKILL);
  }
}

void ChildProcesses::MarkUseful(pid_t pid) {
  absl::MutexLock lock(&mu_);
  for (Slot& slot : slots_) {
    if (slot.child.pid == pid) slot.useful = true;
  }
}

std::vector<ChildProcesses::Child> ChildProcesses::List() const {
  absl::MutexLock lock(&mu_);
  std::vector<Child> children;
  for (const Slot& slot : slots_) children.push_back(slot.child);
  return children;
}

void ChildProcesses::Loop() {
  while (true) {
    Calls calls;
    bool finished;
    {
      absl::MutexLock lock(&mu_);
      const absl::Time now = timing::SteadyNow();
      for (Slot& slot : slots_) {
        if (slot.child.state != Child::State::kRunning) continue;
        ReadLocked(&slot, &calls);
        ReapLocked(&slot, now, &calls);
      }
      if (!stopping_) StartDueLocked(now);
      finished = stopping_ && !AnyRunningLocked();
    }
    for (const auto& call : calls) call();
    if (finished) return none_runs_.Set();
    WaitForOutput();
  }
}

void ChildProcesses::WaitForOutput() {
  std::vector<pollfd> fds;
  {
    absl::MutexLock lock(&mu_);
    for (const Slot& slot : slots_) {
      if (slot.stderr_fd >= 0) fds.push_back({slot.stderr_fd, POLLIN, 0});
    }
  }
  poll(fds.data(), fds.size(), kPollMs);
}

void ChildProcesses::StartDueLocked(absl::Time now) {
  for (Slot& slot : slots_) {
    if (slot.child.state == Child::State::kRunning || slot.child.next_start > now) continue;
    absl::Status spawned = SpawnLocked(&slot);
    slot.started = now;
    if (!spawned.ok()) EndLocked(&slot, now, false, std::string(spawned.message()));
  }
}

absl::Status ChildProcesses::SpawnLocked(Slot* slot) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return absl::InternalError("cannot make a pipe for a worker's stderr");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 2);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The daemon blocks signals and handles them itself. A child starts with none blocked, in a group of its own, so that
  // ^C at a terminal reaches the daemon alone.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& argument : config_.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  // What the daemon was given (passwords, tokens of other services) is not for what strangers' kernels may get to read.
  std::vector<std::string> entries = EnvironmentForWorkers();
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    return absl::NotFoundError(absl::StrCat("cannot start ", config_.command[0], ": ", strerror(error)));
  }
  slot->child.pid = pid;
  slot->child.state = Child::State::kRunning;
  slot->stderr_fd = pipe_fds[0];
  slot->line.clear();
  slot->tail.clear();
  slot->useful = false;
  return absl::OkStatus();
}

void ChildProcesses::ReadLocked(Slot* slot, Calls* calls) {
  char buffer[4096];
  while (slot->stderr_fd >= 0) {
    const ssize_t count = read(slot->stderr_fd, buffer, sizeof(buffer));
    if (count < 0) return;
    if (count == 0) {
      close(slot->stderr_fd);
      slot->stderr_fd = -1;
    }
    for (ssize_t i = 0; i < count; ++i) {
      if (buffer[i] != '\n') {
        if (slot->line.size() < kMaxLine) slot->line.push_back(buffer[i] == '\t' ? ' ' : buffer[i]);
        continue;
      }
      std::string line = proto::EscapeToPlain(std::exchange(slot->line, ""));
      if (on_line_) calls->push_back([this, pid = slot->child.pid, line] { on_line_(pid, line); });
      slot->tail.push_back(std::move(line));
      if (slot->tail.size() > kTailLines) slot->tail.erase(slot->tail.begin());
    }
  }
}

void ChildProcesses::ReapLocked(Slot* slot, absl::Time now, Calls* calls) {
  siginfo_t ended{};
  if (waitid(P_PID, slot->child.pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
  // What it has started (an assembler) would go on for nobody. Before it is reaped, so that the group is still its own.
  kill(-slot->child.pid, SIGKILL);
  int status = 0;
  waitpid(slot->child.pid, &status, 0);
  ReadLocked(slot, calls);  // What it wrote last.
  ChildEnd end;
  end.pid = slot->child.pid;
  end.clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  end.report = HowItEnded(WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
  if (!slot->line.empty()) slot->tail.push_back(proto::EscapeToPlain(slot->line));
  EndLocked(slot, now, end.clean, end.report);
  if (!slot->tail.empty()) absl::StrAppend(&end.report, "\n", absl::StrJoin(slot->tail, "\n"));
  if (on_end_) calls->push_back([this, end] { on_end_(end); });
}

void ChildProcesses::EndLocked(Slot* slot, absl::Time now, bool clean, const std::string& how) {
  if (slot->stderr_fd >= 0) close(slot->stderr_fd);
  slot->stderr_fd = -1;
  const bool useful =
      slot->useful || (slot->child.state == Child::State::kRunning && now - slot->started >= config_.useful_life);
  slot->child.state = Child::State::kBackingOff;
  ++slot->child.deaths;
  slot->child.last_death = how;
  slot->backoff =
      useful ? absl::ZeroDuration() : std::clamp(slot->backoff * 2, config_.min_backoff, config_.max_backoff);
  slot->child.next_start = now + slot->backoff;
}

}  // namespace tritond::workers
