// SPDX-License-Identifier: Apache-2.0
// Each limit is tried in a process that dies of it (a GoogleTest death test).
#include "workers/runner/limits.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/sanitizer.h"

namespace tritond::workers {
namespace {

TEST(LimitProcess, EndsAProcessThatEatsMemory) {
  if (tests::kSanitized) GTEST_SKIP() << "a sanitizer's addresses cannot be limited";
  EXPECT_EXIT(
      {
        if (!LimitProcess(uint64_t{1} << 30).ok()) _exit(9);
        std::vector<char*> eaten;
        for (int i = 0; i < 1000; ++i) eaten.push_back(new char[64 << 20]);
        _exit(0);
      },
      testing::KilledBySignal(SIGABRT), "out of memory");
}

TEST(BoundCpuTime, EndsAProcessThatLoops) {
  EXPECT_EXIT(
      {
        BoundCpuTime(absl::ZeroDuration());
        for (volatile unsigned i = 0;; i = i + 1) {
        }
      },
      testing::KilledBySignal(SIGXCPU), "");
}

TEST(ForbidSockets, HoldsOnEveryThreadAndAllowsPrograms) {
  EXPECT_EXIT(
      {
        bool go = false;
        int other = -1;
        std::thread thread([&] {
          while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) std::this_thread::yield();
          other = socket(AF_UNIX, SOCK_STREAM, 0);
        });
        if (!EnterSandbox().ok() || !ForbidSockets().ok()) _exit(9);
        __atomic_store_n(&go, true, __ATOMIC_RELEASE);
        thread.join();
        if (other >= 0 || errno == 0) _exit(1);
        if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM) _exit(2);
        if (system("exit 5") != 5 << 8) _exit(3);
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(EnterSandbox, ForbidsOtherProcessesMemoryAndAllowsToDial) {
  EXPECT_EXIT(
      {
        if (!EnterSandbox().ok()) _exit(9);
        if (syscall(SYS_ptrace, 16, getppid(), 0, 0) == 0 || errno != EPERM) _exit(1);
        _exit(socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(EnterSandbox, KeepsItsMemoryFromOthersOfItsUser) {
  EXPECT_EXIT(
      {
        if (!EnterSandbox().ok()) _exit(9);
        _exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(EnterSandbox, LeavesNoWayAroundThroughIoUring) {
  EXPECT_EXIT(
      {
        if (!EnterSandbox().ok()) _exit(9);
        char parameters[256] = {};
        _exit(syscall(SYS_io_uring_setup, 1, parameters) < 0 && errno == EPERM ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(LimitProcess, LetsNoFileGrowForEver) {
  EXPECT_EXIT(
      {
        if (!LimitProcess(0).ok()) _exit(9);
        FILE* file = tmpfile();
        if (file == nullptr) _exit(8);
        fseeko(file, off_t{1} << 31, SEEK_SET);
        fputc('x', file);
        fflush(file);
        _exit(0);
      },
      testing::KilledBySignal(SIGXFSZ), "");
}

TEST(CpuTime, Grows) {
  const absl::Duration before = CpuTime();
  while (CpuTime() == before) {
  }
  EXPECT_GT(CpuTime(), before);
}

TEST(ResidentBytes, SeesWhatIsTouched) {
  EXPECT_GT(ResidentBytes(), uint64_t{1} << 20);
  std::vector<char> block(64 << 20, 1);
  EXPECT_GT(ResidentBytes(), uint64_t{64} << 20);
}

}  // namespace
}  // namespace tritond::workers
