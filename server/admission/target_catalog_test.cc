// SPDX-License-Identifier: Apache-2.0
#include "server/admission/target_catalog.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using Arrival = TargetCatalog::Arrival;

class TargetCatalogTest : public testing::Test {
 protected:
  TargetCatalogTest() : catalog_({/*expected_workers=*/1}, [this] { return now_; }) {}
  static KnownTarget Target(const std::string& name, bool binary = true) {
    return {name, "", "cubin", binary, "", false};
  }
  void Wait(const std::string& target, absl::Time deadline = absl::InfiniteFuture()) {
    waiter_ = catalog_.WhenAttached(target, deadline, [this](Arrival arrival) { arrival_ = arrival; });
  }
  absl::Time now_ = absl::FromUnixSeconds(1000);
  TargetCatalog catalog_;
  TargetCatalog::WaiterId waiter_ = 0;
  std::optional<Arrival> arrival_;
};

TEST_F(TargetCatalogTest, KnowsWhatAttachedWorkersOffer) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90"), Target("cuda:80")});
  ASSERT_TRUE(catalog_.Find("cuda:90").has_value());
  EXPECT_EQ(catalog_.Find("cuda:90")->build_id, "b1");
  EXPECT_TRUE(catalog_.Find("cuda:90")->attached);
  EXPECT_FALSE(catalog_.Find("cuda:75").has_value());
  EXPECT_EQ(catalog_.List().size(), 2u);
}

TEST_F(TargetCatalogTest, RemembersATargetWhenItsLastWorkerGoes) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  ASSERT_TRUE(catalog_.Find("cuda:90").has_value());
  EXPECT_FALSE(catalog_.Find("cuda:90")->attached);
  EXPECT_EQ(catalog_.Find("cuda:90")->build_id, "b1");
}

TEST_F(TargetCatalogTest, PrefersTheBuildThatMakesBinariesThenTheLatest) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b2", {Target("cuda:90", false)});
  EXPECT_EQ(catalog_.Find("cuda:90")->build_id, "b1");
  catalog_.WorkerAttached("w3", "b3", {Target("cuda:90")});
  EXPECT_EQ(catalog_.Find("cuda:90")->build_id, "b3");
  catalog_.WorkerGone("w3");
  EXPECT_EQ(catalog_.Find("cuda:90")->build_id, "b1");
}

TEST_F(TargetCatalogTest, AWaitEndsWhenTheWorkerComes) {
  Wait("cuda:90");
  EXPECT_FALSE(arrival_.has_value());
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  EXPECT_EQ(arrival_, Arrival::kAttached);
}

TEST_F(TargetCatalogTest, NobodyWaitsOnceWaitingHasStopped) {
  Wait("cuda:90");
  catalog_.StopWaiting();
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
  arrival_.reset();
  Wait("cuda:90");
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
}

TEST_F(TargetCatalogTest, ATargetIsUnknownOnceTheExpectedWorkersAreHere) {
  Wait("cuda:75");
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  EXPECT_EQ(arrival_, Arrival::kUnknown);
}

TEST_F(TargetCatalogTest, ATargetIsUnknownAfterTheGracePeriod) {
  TargetCatalog catalog({/*expected_workers=*/2}, [this] { return now_; });
  catalog.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog.WhenAttached("cuda:75", absl::InfiniteFuture(), [this](Arrival arrival) { arrival_ = arrival; });
  now_ += absl::Seconds(14);
  catalog.Tick();
  EXPECT_FALSE(arrival_.has_value());
  now_ += absl::Seconds(1);
  catalog.Tick();
  EXPECT_EQ(arrival_, Arrival::kUnknown);
}

TEST_F(TargetCatalogTest, WhereNoWorkerHasEverBeenNoTargetIsCalledUnknown) {
  Wait("cuda:90");
  now_ += absl::Seconds(14);
  catalog_.Tick();
  EXPECT_FALSE(arrival_.has_value());
  now_ += absl::Seconds(1);
  catalog_.Tick();
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
}

TEST_F(TargetCatalogTest, AWaitEndsAtItsDeadline) {
  Wait("cuda:90", now_ + absl::Seconds(1));
  now_ += absl::Seconds(1);
  catalog_.Tick();
  EXPECT_EQ(arrival_, Arrival::kDeadline);
}

TEST_F(TargetCatalogTest, AWorkerThatDoesNotReturnIsWaitedForAWhile) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  Wait("cuda:90");
  now_ += absl::Seconds(29);
  catalog_.Tick();
  EXPECT_FALSE(arrival_.has_value());
  now_ += absl::Seconds(1);
  catalog_.Tick();
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
}

TEST_F(TargetCatalogTest, AWaiterThatLeftHearsNothing) {
  Wait("cuda:90");
  EXPECT_TRUE(catalog_.Leave(waiter_));
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  EXPECT_FALSE(arrival_.has_value());
  EXPECT_FALSE(catalog_.Leave(waiter_));
}

TEST_F(TargetCatalogTest, WhatIsRememberedSurvivesARestart) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  TargetCatalog next({1}, [this] { return now_; });
  ASSERT_TRUE(next.Restore(catalog_.Remembered()).ok());
  ASSERT_TRUE(next.Find("cuda:90").has_value());
  EXPECT_EQ(next.Find("cuda:90")->build_id, "b1");
  EXPECT_FALSE(next.Find("cuda:90")->attached);
}

TEST_F(TargetCatalogTest, RefusesToRestoreNonsense) {
  for (const char* text : {"", "{}", "[1]", "[{\"name\":\"x\"}]", "[{\"name\":1,\"build_id\":\"b\"}]"}) {
    EXPECT_EQ(catalog_.Restore(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_TRUE(catalog_.List().empty());
}

}  // namespace
}  // namespace tritond::server
