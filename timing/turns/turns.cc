// SPDX-License-Identifier: Apache-2.0
#include "timing/turns/turns.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tritond::timing {
namespace {

constexpr uint64_t kShortNanoseconds = 100'000;  // The least that the scheduler takes.
constexpr uint64_t kUsual = 0;
constexpr int kNicer = 5;

// The first version of the kernel's `struct sched_attr`, which the C library does not declare everywhere.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;  // of a thread without deadlines: its turn
  uint64_t deadline;
  uint64_t period;
};

void AskForTurnsOf(uint64_t nanoseconds) {
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  attributes.runtime = nanoseconds;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

void AskForShortTurns() { AskForTurnsOf(kShortNanoseconds); }

void AskForUsualTurns() { AskForTurnsOf(kUsual); }

void GiveWay() {
  AskForUsualTurns();
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNicer);  // On Linux of this thread alone.
}

}  // namespace tritond::timing
