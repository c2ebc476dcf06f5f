// SPDX-License-Identifier: Apache-2.0
// PROGRAM [--seconds N] [GoogleTest's own]: with --seconds each test goes on for that long.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/synchronization/mutex.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

double& Seconds() {
  static double seconds = 0;
  return seconds;
}

}  // namespace

absl::Duration TestTime(absl::Duration by_default) { return Seconds() > 0 ? absl::Seconds(Seconds()) : by_default; }

}  // namespace tritond::tests

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--seconds") tritond::tests::Seconds() = atof(argv[i + 1]);
  }
  return RUN_ALL_TESTS();
}
