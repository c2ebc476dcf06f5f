// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_POOL_CHILD_PROCESSES_H_
#define WORKERS_POOL_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "timing/steady/event.h"

namespace tritond::workers {

// "signal 6 (Aborted)"; with signal 0 "exit status 3".
std::string HowItEnded(int signal, int exit_status);

// How a child ended.
struct ChildEnd {
  pid_t pid = 0;
  bool clean = false;  // exit status 0
  std::string report;  // "signal 6 (Aborted)" or "exit status 3", then the last lines that it wrote to stderr
};

// Keeps a number of processes of one command running. Starts them again when they end: at once after a useful life,
// else with a growing pause. Collects the end of their stderr, and stops them. Each child leads a process group of its
// own; whatever it has started itself ends with it. Thread-safe; one thread of its own does the work and calls back
// without locks held.
class ChildProcesses final {
 public:
  struct Config {
    std::vector<std::string> command;  // an absolute path, then arguments
    int count = 0;
    absl::Duration min_backoff = absl::Milliseconds(100);
    absl::Duration max_backoff = absl::Seconds(10);
    absl::Duration useful_life = absl::Seconds(10);  // a child that lived as long is started again at once
  };
  struct Child {
    enum class State { kRunning, kBackingOff };
    State state = State::kBackingOff;
    pid_t pid = 0;
    uint32_t deaths = 0;
    std::string last_death;
    absl::Time next_start;  // by the steady clock
  };

  // `on_end` hears of each end; `on_line` gets each line that a child writes to stderr. Both may be null.
  ChildProcesses(Config config, std::function<void(const ChildEnd&)> on_end,
                 std::function<void(pid_t, const std::string&)> on_line);
  // Kills what still runs.
  ~ChildProcesses();

  void Start();
  // Asks all to end (SIGTERM), kills those that have not after `grace`, and starts none again; those `at_once` it kills
  // without asking. Blocks until all are gone.
  void Stop(absl::Duration grace, const std::set<pid_t>& at_once = {});

  // True when `pid` is a running child.
  bool Owns(pid_t pid) const;
  // SIGKILL, if it is a running child.
  void Kill(pid_t pid);
  // The child did something useful; its next start will not be delayed.
  void MarkUseful(pid_t pid);
  std::vector<Child> List() const;

 private:
  struct Slot {
    Child child;
    int stderr_fd = -1;
    std::string line;               // not ended yet
    std::vector<std::string> tail;  // the last lines
    bool useful = false;
    absl::Time started;
    absl::Duration backoff;
  };
  using Calls = std::vector<std::function<void()>>;

  void Loop();
  void WaitForOutput();
  void StartDueLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status SpawnLocked(Slot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReadLocked(Slot* slot, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReapLocked(Slot* slot, absl::Time now, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked(Slot* slot, absl::Time now, bool clean, const std::string& how) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AnyRunningLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SignalAllLocked(int signal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Config config_;
  const std::function<void(const ChildEnd&)> on_end_;
  const std::function<void(pid_t, const std::string&)> on_line_;
  mutable absl::Mutex mu_;
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  timing::Event none_runs_;  // nor will
  std::thread thread_;
};

}  // namespace tritond::workers

#endif  // WORKERS_POOL_CHILD_PROCESSES_H_
