// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/bulk_copies.h"

#include <gtest/gtest.h>

#include <string>

namespace tritond::workers::emulated {
namespace {

bool IsOver(const BulkCopies& copies, uint64_t barrier, uint64_t parity) {
  bool is_over = false;
  ReleaseClocks::Times told;
  EXPECT_FALSE(copies.Test(barrier, parity, &is_over, &told).has_value());
  return is_over;
}

TEST(BulkCopies, PhaseEndsWithTheLastArrivalAndByte) {
  BulkCopies copies;
  copies.Init(64, 2);
  EXPECT_FALSE(IsOver(copies, 64, 0));
  EXPECT_TRUE(IsOver(copies, 64, 1));  // the phase before the first
  EXPECT_FALSE(copies.Arrive(64, 1, 128, {}).has_value());
  EXPECT_FALSE(copies.Arrive(64, 1, 0, {}).has_value());
  EXPECT_FALSE(IsOver(copies, 64, 0));
  bool copied = false;
  copies.Load(64, 128, [&] {
    copied = true;
    return absl::optional<std::string>();
  });
  EXPECT_FALSE(copied);
  EXPECT_FALSE(copies.FinishLoad().has_value());
  EXPECT_TRUE(copied);
  EXPECT_FALSE(copies.HasLoads());
  EXPECT_TRUE(IsOver(copies, 64, 0));
  EXPECT_FALSE(IsOver(copies, 64, 1));  // the next one
}

TEST(BulkCopies, UnexpectedBytesKeepThePhaseOpen) {
  BulkCopies copies;
  copies.Init(64, 1);
  copies.Load(64, 128, [] { return absl::optional<std::string>(); });
  EXPECT_FALSE(copies.Arrive(64, 1, 256, {}).has_value());
  EXPECT_FALSE(copies.FinishLoad().has_value());
  EXPECT_FALSE(IsOver(copies, 64, 0));
}

TEST(BulkCopies, NamesBarriersThatAreNone) {
  BulkCopies copies;
  EXPECT_TRUE(copies.Arrive(8, 1, 0, {}).has_value());
  copies.Init(8, 1);
  EXPECT_TRUE(copies.Arrive(8, 2, 0, {}).has_value());
  copies.Invalidate(8);
  bool is_over = false;
  ReleaseClocks::Times told;
  EXPECT_TRUE(copies.Test(8, 0, &is_over, &told).has_value());
}

TEST(BulkCopies, ThoseThatWaitAreToldByAllThatArrivedInTheirPhase) {
  BulkCopies copies;
  copies.Init(8, 2);
  EXPECT_FALSE(copies.Arrive(8, 1, 0, {7, 0}).has_value());
  EXPECT_FALSE(copies.Arrive(8, 1, 0, {1, 3}).has_value());
  EXPECT_FALSE(copies.Arrive(8, 1, 0, {9, 9}).has_value());  // in the next phase
  bool is_over = false;
  ReleaseClocks::Times told;
  EXPECT_FALSE(copies.Test(8, 0, &is_over, &told).has_value());
  EXPECT_TRUE(is_over);
  EXPECT_EQ(told, (ReleaseClocks::Times{7, 3}));
}

// Stores of a thread that write down what they do.
class BulkStores : public testing::Test {
 protected:
  void Store(const std::string& name) {
    const auto does = [this](const std::string& what) {
      done_ += what;
      return absl::optional<std::string>();
    };
    copies_.Store(
        3, [=] { return does("r" + name); }, [=] { return does("w" + name); });
    copies_.Commit(3);
  }

  BulkCopies copies_;
  std::string done_;
};

TEST_F(BulkStores, HappenAtTheWaitOfTheirThread) {
  Store("1");
  Store("2");
  EXPECT_FALSE(copies_.Wait(4, 0, false).has_value());
  EXPECT_EQ(done_, "");
  EXPECT_FALSE(copies_.Wait(3, 1, false).has_value());
  EXPECT_EQ(done_, "r1w1");
  EXPECT_FALSE(copies_.Wait(3, 0, false).has_value());
  EXPECT_EQ(done_, "r1w1r2w2");
}

TEST_F(BulkStores, MayWriteAfterTheWaitForTheirReads) {
  Store("1");
  Store("2");
  EXPECT_FALSE(copies_.Wait(3, 1, true).has_value());
  EXPECT_EQ(done_, "r1");
  EXPECT_FALSE(copies_.Wait(3, 0, true).has_value());
  EXPECT_EQ(done_, "r1r2");
  Store("3");
  EXPECT_FALSE(copies_.Wait(3, 1, false).has_value());
  EXPECT_EQ(done_, "r1r2w1w2");
}

TEST_F(BulkStores, WriteInAnyOrderAfterTheProgram) {
  Store("1");
  Store("2");
  EXPECT_FALSE(copies_.Wait(3, 0, true).has_value());
  EXPECT_FALSE(copies_.FinishStores().has_value());
  EXPECT_EQ(done_, "r1r2w2w1");
}

TEST_F(BulkStores, MustHaveReadBeforeTheProgramEnds) {
  Store("1");
  Store("2");
  EXPECT_FALSE(copies_.Wait(3, 1, true).has_value());
  EXPECT_TRUE(copies_.FinishStores().has_value());
}

}  // namespace
}  // namespace tritond::workers::emulated
