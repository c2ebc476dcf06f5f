// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/job_usage.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "workers/runner/limits.h"
#include "workers/sandbox/sandbox.h"

namespace tritond::workers {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

// Touches so much memory, and gives it back.
void Use(uint64_t size) {
  void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  memset(block, 1, size);
  munmap(block, size);
}

TEST(JobUsage, SeesWhatWasGivenBackAlready) {
  const JobUsage usage;
  const uint64_t before = ResidentBytes();
  Use(128 * kMib);
  EXPECT_GE(usage.peak_bytes(), before + 120 * kMib);
  EXPECT_LT(usage.peak_bytes(), before + 200 * kMib);
}

TEST(JobUsage, AnEarlierJobsPeakIsNotThisOnes) {
  Use(256 * kMib);
  const JobUsage usage;
  Use(16 * kMib);
  EXPECT_LT(usage.peak_bytes(), 200 * kMib);
  if (usage.forgets_peaks()) {
    EXPECT_GE(usage.peak_bytes(), 16 * kMib);
  }
}

TEST(JobUsage, CountsTimeOfThreadsAndOfProgramsThatHaveEnded) {
  const JobUsage usage;
  std::thread([] {
    const absl::Duration before = CpuTime();
    while (CpuTime() - before < absl::Milliseconds(20)) {
    }
  }).join();
  const absl::Duration own = usage.cpu();
  EXPECT_GE(own, absl::Milliseconds(20));
  ASSERT_EQ(system("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), 0);
  EXPECT_GT(usage.cpu(), own);
}

TEST(JobUsage, WorksInTheSandbox) {
  EXPECT_EXIT(
      {
        if (!LimitProcess(0).ok() || !EnterSandbox({}).ok()) _exit(9);
        const bool outside_forgets = access("/proc/self/clear_refs", W_OK) == 0;
        const JobUsage usage;
        Use(64 * kMib);
        _exit(usage.forgets_peaks() == outside_forgets && usage.peak_bytes() > 60 * kMib ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tritond::workers
