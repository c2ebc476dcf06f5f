// SPDX-License-Identifier: Apache-2.0
#include "workers/device/proxy_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::workers {
namespace {

// Threads 0 and 40 are of different warps; epochs count barriers.
class ProxyLogTest : public testing::Test {
 protected:
  bool MayRead(int thread, uint32_t epoch) { return !log_.Read(thread, nullptr, 16, 16, epoch).has_value(); }
  // What thread 0 has done is known to thread 40, as by an mbarrier.
  void HandOver() {
    emulated::ReleaseClocks::Times told;
    clocks_.Release(0, &told);
    clocks_.Acquire(40, told);
  }

  emulated::ReleaseClocks clocks_{64, 32};
  ProxyLog log_{64, 32, clocks_};
};

TEST_F(ProxyLogTest, UnwrittenMemoryMayBeRead) { EXPECT_TRUE(MayRead(0, 1)); }

TEST_F(ProxyLogTest, FenceThenBarrierIsEnough) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  EXPECT_FALSE(MayRead(0, 1));
  log_.Fence(0, 1);
  EXPECT_TRUE(MayRead(40, 2));
}

TEST_F(ProxyLogTest, BarrierWithoutFenceIsNot) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  const auto wrong = log_.Read(40, nullptr, 16, 16, 2);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, testing::HasSubstr("thread 0 wrote"));
  EXPECT_THAT(*wrong, testing::HasSubstr("no fence.proxy.async"));
}

TEST_F(ProxyLogTest, ReadersMayFenceForThemselvesAfterTheBarrier) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  log_.Fence(40, 2);
  EXPECT_TRUE(MayRead(40, 2));
  EXPECT_FALSE(MayRead(0, 2));
  EXPECT_TRUE(MayRead(0, 3));
}

TEST_F(ProxyLogTest, AnotherThreadsFenceBeforeTheBarrierIsNone) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  log_.Fence(40, 1);
  EXPECT_FALSE(MayRead(40, 2));
}

TEST_F(ProxyLogTest, AFenceBeforeTheHandOverIsEnough) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  log_.Fence(0, 1);
  EXPECT_FALSE(MayRead(40, 1));
  HandOver();
  EXPECT_TRUE(MayRead(40, 1));
}

TEST_F(ProxyLogTest, AFenceAfterTheHandOverIsTheReadersMatter) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  HandOver();
  EXPECT_FALSE(MayRead(40, 1));
  log_.Fence(0, 1);
  EXPECT_FALSE(MayRead(40, 1));
  log_.Fence(40, 1);
  EXPECT_TRUE(MayRead(40, 1));
}

TEST_F(ProxyLogTest, ALaterFenceTakesNothingBack) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  log_.Fence(0, 1);
  HandOver();
  log_.Fence(0, 1);
  EXPECT_TRUE(MayRead(40, 1));
}

TEST_F(ProxyLogTest, NewWritesNeedNewFences) {
  log_.Wrote(0, nullptr, 16, 16, 1);
  log_.Fence(0, 1);
  log_.Wrote(0, nullptr, 24, 4, 2);
  EXPECT_FALSE(MayRead(40, 3));
}

}  // namespace
}  // namespace tritond::workers
