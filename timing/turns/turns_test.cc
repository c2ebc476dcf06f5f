// SPDX-License-Identifier: Apache-2.0
#include "timing/turns/turns.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <thread>

namespace tritond::timing {
namespace {

// In nanoseconds; 0 where the system does not tell.
uint64_t TurnOfThisThread() {
  unsigned char attributes[48] = {};
  if (syscall(SYS_sched_getattr, 0, attributes, sizeof(attributes), 0) != 0) return 0;
  uint64_t runtime = 0;
  std::memcpy(&runtime, attributes + 24, sizeof(runtime));
  return runtime;
}

class TurnsTest : public testing::Test {
 protected:
  // Each case has a thread of its own: what it asks for would last.
  template <typename Body>
  void OnThread(Body body) {
    std::thread(body).join();
  }
};

TEST_F(TurnsTest, ShortTurnsAreInheritedAndEnd) {
  OnThread([this] {
    const uint64_t usual = TurnOfThisThread();
    AskForShortTurns();
    if (usual == 0 || TurnOfThisThread() == 0) GTEST_SKIP() << "this system does not tell a thread's turns";
    EXPECT_EQ(TurnOfThisThread(), 100'000u);
    OnThread([] { EXPECT_EQ(TurnOfThisThread(), 100'000u); });
    AskForUsualTurns();
    EXPECT_EQ(TurnOfThisThread(), usual);
  });
}

TEST_F(TurnsTest, AThreadThatGivesWayDoesSoAlone) {
  const int before = getpriority(PRIO_PROCESS, 0);
  if (before > 10) GTEST_SKIP() << "this process is nearly as nice as can be";
  OnThread([before] {
    const uint64_t usual = TurnOfThisThread();
    AskForShortTurns();
    GiveWay();
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before + 5);
    EXPECT_EQ(TurnOfThisThread(), usual);
  });
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace tritond::timing
