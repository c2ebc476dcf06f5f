// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/stop_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "timing/steady/steady_time.h"

namespace tritond::workers {
namespace {

sigset_t StopSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void HoldStopSignals() {
  const sigset_t set = StopSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool AwaitStopSignal(absl::Duration patience) {
  const sigset_t set = StopSet();
  const absl::Time until = timing::SteadyNow() + patience;
  while (true) {
    const timespec left = absl::ToTimespec(std::max(until - timing::SteadyNow(), absl::ZeroDuration()));
    if (sigtimedwait(&set, nullptr, &left) > 0) return true;
    if (errno != EINTR) return false;
  }
}

StopSignals::StopSignals(std::function<void()> on_first) : on_first_(std::move(on_first)) {
  // Its thread holds them from its start, also where the one that starts it does not.
  const sigset_t set = StopSet();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  thread_ = std::thread([this] { Watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StopSignals::~StopSignals() {
  pthread_kill(thread_.native_handle(), SIGTERM);  // To that thread alone, and known by its sender.
  thread_.join();
}

void StopSignals::Watch() {
  const sigset_t set = StopSet();
  int from_parent = 0, from_others = 0;
  while (true) {
    siginfo_t signal{};
    if (sigwaitinfo(&set, &signal) < 0) continue;
    if (signal.si_pid == getpid()) return;
    int& count = signal.si_pid == getppid() ? from_parent : from_others;
    if (++count > 1) _exit(128 + signal.si_signo);
    if (from_parent + from_others == 1) on_first_();
  }
}

}  // namespace tritond::workers
