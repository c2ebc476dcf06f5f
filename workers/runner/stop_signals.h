// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_STOP_SIGNALS_H_
#define WORKERS_RUNNER_STOP_SIGNALS_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"

namespace tritond::workers {

// Holds SIGTERM and SIGINT back in this thread, and in all threads and programs that it starts from now on. They reach
// a StopSignals alone, so an assembler that is told to end together with its worker finishes its work too.
void HoldStopSignals();

// Whether one comes within `patience`; it is taken. For a process that holds them and has no StopSignals now.
bool AwaitStopSignal(absl::Duration patience);

// Takes the stop signals of a process that holds them, on a thread of its own. The first asks it to end in order, a
// second ends it at once. What the parent process sends and what others send is counted apart. The reason is that a
// supervisor passes on what its child may have got already (a service manager signals both).
class StopSignals final {
 public:
  // `on_first` runs on the thread of this object, once, while it must not be destroyed by it.
  explicit StopSignals(std::function<void()> on_first);
  ~StopSignals();

 private:
  void Watch();

  const std::function<void()> on_first_;
  std::thread thread_;
};

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_STOP_SIGNALS_H_
