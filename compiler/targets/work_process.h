// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_WORK_PROCESS_H_
#define COMPILER_TARGETS_WORK_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler {

// A process of its own for one kind of work: a copy of this one. It is made when the first request comes and kept for
// those that follow, so that a request costs no fork. It is for libraries that keep state in the process they run in
// (options, signal handlers). It is also for what must be ended at once when its compile is abandoned
// (CompileChildren).
//
// The process leads a process group: with it ends all that it has started. It ends with this object, and with the
// thread that made it, however that ends. Used by one thread at a time.
class WorkProcess final {
 public:
  // Runs in the other process; what it changes is seen by later requests there, and never here.
  using Work = std::function<absl::StatusOr<std::string>(absl::string_view request)>;

  // `what`: the work's name, for messages.
  WorkProcess(std::string what, Work work);
  ~WorkProcess();
  WorkProcess(const WorkProcess&) = delete;
  WorkProcess& operator=(const WorkProcess&) = delete;

  // What the work returned. Cancelled: the compile was abandoned. ResourceExhausted: the request took the process
  // `cpu_seconds` of processor time, or no process can be made. Internal: the process died ("`what` died of signal
  // 11"). After each of them the next request gets a fresh process.
  absl::StatusOr<std::string> Run(absl::string_view request, int cpu_seconds);

  // Of the process; 0 while there is none. For tests.
  pid_t pid() const { return pid_; }

 private:
  absl::Status Start();
  [[noreturn]] void Serve(int requests, int answers) noexcept;
  absl::StatusOr<std::string> Ask(absl::string_view request, int cpu_seconds, bool* taken);
  // Ends the process; its wait status.
  int End();

  const std::string what_;
  const Work work_;
  pid_t pid_ = 0, maker_ = 0;         // the process, the thread that made it
  int requests_ = -1, answers_ = -1;  // our ends of the pipes
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_WORK_PROCESS_H_
