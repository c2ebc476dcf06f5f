// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/watched_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace tritond::tests {
namespace {

using testing::HasSubstr;

TEST(WatchedProcess, WorkThatEndsIsNoDeath) {
  EXPECT_EQ(RunWatched([] { Announce("fine", 5); }, 0).how, "");
}

TEST(WatchedProcess, ACrashTellsItsInputAndItsSignal) {
  Death death = RunWatched(
      [] {
        Announce("first", 5);
        Announce("second", 5);
        std::abort();
      },
      0);
  EXPECT_THAT(death.how, HasSubstr("signal 6"));
  EXPECT_EQ(death.input, "second");
  EXPECT_NE(death.stack, "");
}

TEST(WatchedProcess, AHangEndsAfterItsTerm) {
  Death death = RunWatched(
      [] {
        Announce("endless", 1);
        for (volatile int i = 0;; ++i) {
        }
      },
      0);
  EXPECT_EQ(death.how, "no end within 1 s of processor time");
  EXPECT_EQ(death.input, "endless");
}

TEST(WatchedProcess, AWaitEndsToo) {
  Death death = RunWatched(
      [] {
        Announce("waits", 1);
        while (true) pause();
      },
      0);
  EXPECT_EQ(death.how, "no end within 6 s");
  EXPECT_EQ(death.input, "waits");
}

TEST(WatchedProcess, ComplaintsThatDifferInNumbersAreOne) {
  auto complain = [](const std::string& what) { return RunWatched([&] { Complain(what); }, 0); };
  Death a = complain("line 3: no"), b = complain("line 17: no"), c = complain("line 3: yes");
  EXPECT_EQ(a.how, "line 3: no");
  EXPECT_EQ(a.signature, b.signature);
  EXPECT_NE(a.signature, c.signature);
}

}  // namespace
}  // namespace tritond::tests
