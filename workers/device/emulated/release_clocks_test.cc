// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/release_clocks.h"

#include <gtest/gtest.h>

namespace tritond::workers::emulated {
namespace {

// Three warps of two threads: 0 and 1, 2 and 3, 4 and 5.
class ReleaseClocksTest : public testing::Test {
 protected:
  bool Knows(int thread, int warp) const { return clocks_.Knows(thread, warp, mark_); }

  ReleaseClocks clocks_{6, 2};
  uint32_t mark_ = 0;
  ReleaseClocks::Times released_;
};

TEST_F(ReleaseClocksTest, UnreleasedWritesAreKnownToNoOtherThread) {
  mark_ = clocks_.Mark(0);
  EXPECT_FALSE(Knows(2, 0));
  clocks_.Acquire(2, {});
  EXPECT_FALSE(Knows(2, 0));
}

TEST_F(ReleaseClocksTest, AnAcquireSeesAllBeforeTheRelease) {
  mark_ = clocks_.Mark(0);
  clocks_.Release(1, &released_);
  const uint32_t later = clocks_.Mark(0);
  EXPECT_GT(later, mark_);
  clocks_.Acquire(2, released_);
  EXPECT_TRUE(Knows(2, 0));
  EXPECT_FALSE(clocks_.Knows(2, 0, later));
  EXPECT_FALSE(Knows(3, 0));
}

TEST_F(ReleaseClocksTest, KnowledgeIsPassedOn) {
  mark_ = clocks_.Mark(0);
  clocks_.Release(0, &released_);
  clocks_.Acquire(2, released_);
  ReleaseClocks::Times second;
  clocks_.Release(2, &second);
  clocks_.Acquire(4, second);
  EXPECT_TRUE(Knows(4, 0));
}

TEST_F(ReleaseClocksTest, AReleaseOfTwoWarpsTellsOfBoth) {
  mark_ = clocks_.Mark(0);
  const uint32_t other = clocks_.Mark(1);
  clocks_.Release(0, &released_);
  clocks_.Release(2, &released_);
  clocks_.Acquire(4, released_);
  EXPECT_TRUE(Knows(4, 0));
  EXPECT_TRUE(clocks_.Knows(4, 1, other));
}

TEST_F(ReleaseClocksTest, AWarpSharesWhatOneOfItsThreadsKnows) {
  mark_ = clocks_.Mark(0);
  clocks_.Release(0, &released_);
  clocks_.Acquire(3, released_);
  clocks_.PassWarpBarrier(1);
  EXPECT_TRUE(Knows(2, 0));
  EXPECT_FALSE(Knows(4, 0));
}

TEST_F(ReleaseClocksTest, TheNextProgramKnowsNothing) {
  clocks_.Release(0, &released_);
  clocks_.Acquire(2, released_);
  clocks_.Clear();
  mark_ = clocks_.Mark(0);
  EXPECT_FALSE(Knows(2, 0));
}

}  // namespace
}  // namespace tritond::workers::emulated
