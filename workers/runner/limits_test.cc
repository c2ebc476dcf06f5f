// SPDX-License-Identifier: Apache-2.0
// Each limit is tried in a process that dies of it (a GoogleTest death test).
#include "workers/runner/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

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
  asm volatile("" : : "r"(block.data()) : "memory");  // a compiler may leave out memory that nobody reads
  EXPECT_GT(ResidentBytes(), uint64_t{64} << 20);
}

}  // namespace
}  // namespace tritond::workers
