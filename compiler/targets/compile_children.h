// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_COMPILE_CHILDREN_H_
#define COMPILER_TARGETS_COMPILE_CHILDREN_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::compiler {

// The child process that works for the compile under way. It can be ended at once when nobody wants the compile any
// more. Its use of the machine counts as the compile's. One object for the process, which runs one compile at a time
// and whose children are its own. Thread-safe.
class CompileChildren final {
 public:
  struct Usage {
    absl::Duration cpu;
    uint64_t peak_bytes = 0;  // resident; 0: not known, or not more than before
  };

  static CompileChildren& Get();

  // A compile begins: an earlier Abandon counts no more, and what children use from now on is this compile's.
  void Begin();
  // Ends the child that works now, and every child that works before the next Begin.
  void Abandon();
  // Cancelled once the compile is abandoned.
  absl::Status StillWanted() const;

  // By children that nobody has waited for, so that getrusage does not tell.
  void AddUsage(const Usage& usage);
  Usage usage() const;

  // `child` works from here to the end of this object's life. That end must come before the child is reaped: only then
  // its number is surely its own. Negative: with its process group.
  class Working final {
   public:
    explicit Working(pid_t child);
    ~Working();
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
  };

 private:
  CompileChildren() = default;

  mutable absl::Mutex mu_;
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  pid_t working_ ABSL_GUARDED_BY(mu_) = 0;
  Usage usage_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_COMPILE_CHILDREN_H_
