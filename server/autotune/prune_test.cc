// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr DeviceLimits kHopper = {1024, 16, 232448, 255, 2048, 32, 233472, 65536};

KernelFacts Kernel(uint32_t warps, uint64_t shared, uint32_t registers, uint32_t spill = 0) {
  KernelFacts facts;
  facts.num_warps = warps;
  facts.shared_bytes = shared;
  facts.registers = registers;
  facts.spill_bytes = spill;
  return facts;
}

TEST(Prune, ACandidateAboveALimitIsImpossibleAndTheReasonSaysByHowMuch) {
  EXPECT_THAT(WhyImpossible(Kernel(64, 0, 0), kHopper), "needs 2048 threads a program; the device has 1024");
  EXPECT_THAT(WhyImpossible(Kernel(4, 232449, 0), kHopper), HasSubstr("232449 bytes of shared memory"));
  EXPECT_THAT(WhyImpossible(Kernel(32, 0, 128), kHopper), HasSubstr("131072 registers; the device has 65536"));
  KernelFacts cluster = Kernel(4, 0, 32);
  cluster.num_ctas = 32;
  EXPECT_THAT(WhyImpossible(cluster, kHopper), HasSubstr("32 programs a cluster"));
}

TEST(Prune, ACandidateAtTheLimitsIsPossible) {
  EXPECT_THAT(WhyImpossible(Kernel(32, 232448, 64), kHopper), IsEmpty());
  EXPECT_THAT(WhyImpossible(Kernel(8, 0, 255), kHopper), IsEmpty());
}

TEST(Prune, UnknownLimitsDropNothing) {
  EXPECT_THAT(WhyImpossible(Kernel(1000, 1 << 30, 5000), DeviceLimits()), IsEmpty());
  EXPECT_EQ(ProgramsAtOnce(Kernel(4, 100, 100), DeviceLimits()), 0u);
}

TEST(Prune, OccupancyIsWhatTheScarcestResourceAllows) {
  EXPECT_EQ(ProgramsAtOnce(Kernel(4, 0, 0), kHopper), 16u);
  EXPECT_EQ(ProgramsAtOnce(Kernel(1, 0, 0), kHopper), 32u);
  EXPECT_EQ(ProgramsAtOnce(Kernel(4, 100000, 32), kHopper), 2u);
  EXPECT_EQ(ProgramsAtOnce(Kernel(8, 0, 255), kHopper), 1u);
  KernelFacts told = Kernel(4, 0, 0);
  told.programs_at_once = 3;
  EXPECT_EQ(ProgramsAtOnce(told, kHopper), 3u);
}

TEST(Prune, AKernelThatSpillsMuchMoreThanAnotherIsDropped) {
  const std::vector<KernelFacts> kernels = {Kernel(4, 0, 128, 0), Kernel(4, 0, 255, 256), Kernel(4, 0, 255, 1000)};
  EXPECT_THAT(WhyUnpromising(kernels, {false, false, false}, kHopper, PrunePolicy()),
              ElementsAre("", "", HasSubstr("spills 1000 bytes a thread; another candidate spills 0")));
}

TEST(Prune, WhereAllSpillMuchNoneIsDropped) {
  const std::vector<KernelFacts> kernels = {Kernel(4, 0, 255, 900), Kernel(4, 0, 255, 1000)};
  EXPECT_THAT(WhyUnpromising(kernels, {false, false}, kHopper, PrunePolicy()), ElementsAre("", ""));
}

TEST(Prune, ADroppedKernelIsNoMeasureForOthers) {
  const std::vector<KernelFacts> kernels = {Kernel(4, 0, 32, 0), Kernel(4, 0, 255, 900)};
  EXPECT_THAT(WhyUnpromising(kernels, {true, false}, kHopper, PrunePolicy()), ElementsAre("", ""));
}

TEST(Prune, FewThreadsBesideManyAreDroppedByTheShareThatThePolicyNames) {
  const std::vector<KernelFacts> kernels = {Kernel(1, 200000, 32), Kernel(8, 1000, 32)};
  EXPECT_THAT(WhyUnpromising(kernels, {false, false}, kHopper, PrunePolicy()),
              ElementsAre(HasSubstr("keeps 32 threads"), ""));
  PrunePolicy any;
  any.occupancy_share = 0;
  EXPECT_THAT(WhyUnpromising(kernels, {false, false}, kHopper, any), ElementsAre("", ""));
}

TEST(Prune, OneIsAlwaysLeft) {
  const std::vector<KernelFacts> kernels = {Kernel(1, 200000, 32, 0), Kernel(8, 1000, 32, 300)};
  const auto reasons = WhyUnpromising(kernels, {false, false}, kHopper, PrunePolicy());
  EXPECT_THAT(reasons, testing::Contains(IsEmpty()));
  EXPECT_THAT(reasons, testing::Contains(Not(IsEmpty())));
}

}  // namespace
}  // namespace tritond::server
