// SPDX-License-Identifier: Apache-2.0
#include "server/admission/target_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using Arrival = TargetCatalog::Arrival;

class TargetCatalogTest : public testing::Test {
 protected:
  TargetCatalogTest()
      : catalog_(
            {/*expected_workers=*/1}, [this] { return now_; },
            [this](const std::string& line) { log_.push_back(line); }) {}
  static KnownTarget Target(const std::string& name, bool binary = true) {
    return {name, "", "cubin", binary, "", false};
  }
  std::string InForce() const { return catalog_.Find("cuda:90")->build_id; }
  void Pass(absl::Duration time) {
    now_ += time;
    catalog_.Tick();
  }
  void Wait(const std::string& target, absl::Time deadline = absl::InfiniteFuture()) {
    waiter_ = catalog_.WhenAttached(target, deadline, [this](Arrival arrival) { arrival_ = arrival; });
  }
  absl::Time now_ = absl::FromUnixSeconds(1000);
  std::vector<std::string> log_;
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

TEST_F(TargetCatalogTest, ABuildThatMakesBinariesBeatsOneThatDoesNot) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90", false)});
  catalog_.WorkerAttached("w2", "b2", {Target("cuda:90")});
  EXPECT_EQ(InForce(), "b2");
  catalog_.WorkerAttached("w3", "b1", {Target("cuda:90", false)});
  EXPECT_EQ(InForce(), "b2");
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(TargetCatalogTest, ABuildStaysInForceWhileAWorkerOfItIsAttached) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b1", {Target("cuda:90")});
  for (const char* stray : {"s1", "s2", "s3"}) catalog_.WorkerAttached(stray, "b2", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  Pass(absl::Hours(1));
  EXPECT_EQ(InForce(), "b1");
  catalog_.WorkerAttached("w3", "b1", {Target("cuda:90")});
  catalog_.WorkerGone("w2");
  Pass(absl::Hours(1));
  EXPECT_EQ(InForce(), "b1");
  EXPECT_TRUE(log_.empty());
  const TargetCatalog::Standing standing = catalog_.Standings().at(0);
  EXPECT_EQ(standing.target, "cuda:90");
  EXPECT_EQ(standing.workers, 1u);
  EXPECT_EQ(standing.of_others, 3u);
}

TEST_F(TargetCatalogTest, AShortReconnectSwitchesNoBuild) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b2", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  Pass(absl::Seconds(9));
  EXPECT_EQ(InForce(), "b1");
  EXPECT_FALSE(catalog_.Find("cuda:90")->attached);
  Wait("cuda:90");
  EXPECT_FALSE(arrival_.has_value());
  catalog_.WorkerAttached("w1 again", "b1", {Target("cuda:90")});
  EXPECT_EQ(arrival_, Arrival::kAttached);
  Pass(absl::Seconds(9));
  EXPECT_EQ(InForce(), "b1");
  EXPECT_TRUE(log_.empty());
}

TEST_F(TargetCatalogTest, TheBuildOfMostTakesOverOnceWhenTheLastWorkerHasGone) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b2", {Target("cuda:90")});
  catalog_.WorkerAttached("w3", "b2", {Target("cuda:90")});
  catalog_.WorkerAttached("w4", "b3", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  Wait("cuda:90");
  Pass(absl::Seconds(10));
  EXPECT_EQ(InForce(), "b2");
  EXPECT_EQ(arrival_, Arrival::kAttached);
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_NE(log_[0].find("b2 is the active one"), std::string::npos) << log_[0];
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  Pass(absl::Hours(1));
  EXPECT_EQ(InForce(), "b2");
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(TargetCatalogTest, ABuildThatLosesItsLastAssemblerKeepsItsKeysForTheGrace) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b1", {Target("cuda:90", false)});
  catalog_.WorkerAttached("w3", "b2", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  EXPECT_EQ(InForce(), "b1");
  EXPECT_FALSE(catalog_.Find("cuda:90")->attached);
  Pass(absl::Seconds(10));
  EXPECT_EQ(InForce(), "b2");
  EXPECT_TRUE(catalog_.Find("cuda:90")->binary_available);
}

TEST_F(TargetCatalogTest, ARememberedBuildIsWaitedForAfterARestart) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  for (const bool local : {false, true}) {
    TargetCatalog next({/*expected_workers=*/1}, [this] { return now_; });
    ASSERT_TRUE(next.Restore(catalog_.Remembered()).ok());
    next.WorkerAttached("w2", "b2", {Target("cuda:90")}, local);
    // Where the daemon's own workers have another build, it was upgraded.
    EXPECT_EQ(next.Find("cuda:90")->build_id, local ? "b2" : "b1");
    now_ += absl::Seconds(10);
    next.Tick();
    EXPECT_EQ(next.Find("cuda:90")->build_id, "b2");
  }
}

TEST_F(TargetCatalogTest, TheDaemonsOwnWorkersTakeOverNothingThatHasWorkers) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerAttached("w2", "b2", {Target("cuda:90")}, /*local=*/true);
  catalog_.WorkerAttached("w3", "b3", {Target("cuda:90")});
  catalog_.WorkerAttached("w4", "b3", {Target("cuda:90")});
  EXPECT_EQ(InForce(), "b1");
  catalog_.WorkerGone("w1");
  Pass(absl::Seconds(10));
  EXPECT_EQ(InForce(), "b2");
}

TEST_F(TargetCatalogTest, ItShowsWhoWaitsForWhat) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  catalog_.WorkerGone("w1");
  TargetCatalog fresh({/*expected_workers=*/0}, [this] { return now_; });
  fresh.WhenAttached("cuda:1", absl::InfiniteFuture(), [](Arrival) {});
  fresh.WhenAttached("cuda:2", absl::InfiniteFuture(), [](Arrival) {});
  ASSERT_EQ(fresh.Standings().size(), 1u) << "made-up names are no labels";
  EXPECT_EQ(fresh.Standings()[0].target, "");
  EXPECT_EQ(fresh.Standings()[0].waiting, 2u);
  Wait("cuda:90");
  ASSERT_EQ(catalog_.Standings().size(), 1u);
  EXPECT_EQ(catalog_.Standings()[0].waiting, 1u);
  EXPECT_FALSE(catalog_.Standings()[0].ready);
}

TEST_F(TargetCatalogTest, AWaitEndsWhenTheWorkerComes) {
  Wait("cuda:90");
  EXPECT_FALSE(arrival_.has_value());
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  EXPECT_EQ(arrival_, Arrival::kAttached);
}

TEST_F(TargetCatalogTest, NoCallerWaitsOnceWaitingHasStopped) {
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
  Pass(absl::Seconds(14));
  EXPECT_FALSE(arrival_.has_value());
  Pass(absl::Seconds(1));
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
}

TEST_F(TargetCatalogTest, TheConfigurationBoundsTheWaitForAWorker) {
  TargetCatalog::Config config;
  config.worker_wait = absl::Seconds(3);
  TargetCatalog catalog(config, [this] { return now_; });
  const auto wait = [&] {
    catalog.WhenAttached("cuda:75", absl::InfiniteFuture(), [this](Arrival a) { arrival_ = a; });
  };
  wait();
  now_ += absl::Seconds(2);
  catalog.Tick();
  EXPECT_FALSE(arrival_.has_value());
  now_ += absl::Seconds(1);
  catalog.Tick();
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
  arrival_.reset();
  catalog.WorkerAttached("w1", "b1", {Target("cuda:90")});  // Others may follow.
  wait();
  now_ += absl::Seconds(3);
  catalog.Tick();
  EXPECT_EQ(arrival_, Arrival::kNoWorker);
}

TEST_F(TargetCatalogTest, AWorkerIsAwaitedThatIsHereOrMayComeSoon) {
  EXPECT_TRUE(catalog_.IsAwaited("cuda:90")) << "the daemon's own has not attached yet";
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  EXPECT_TRUE(catalog_.IsAwaited("cuda:90"));
  EXPECT_FALSE(catalog_.IsAwaited("cuda:75")) << "all that were expected are here";
  Pass(absl::Hours(1));
  EXPECT_TRUE(catalog_.IsAwaited("cuda:90"));
  catalog_.WorkerGone("w1");
  Pass(absl::Seconds(9));
  EXPECT_TRUE(catalog_.IsAwaited("cuda:90")) << "it may restart";
  Pass(absl::Seconds(1));
  EXPECT_FALSE(catalog_.IsAwaited("cuda:90"));
}

TEST_F(TargetCatalogTest, AWorkerThatWasHereBeforeARestartIsAwaitedForAWhile) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  TargetCatalog next({/*expected_workers=*/0}, [this] { return now_; });
  EXPECT_FALSE(next.IsAwaited("cuda:90")) << "no worker has ever been here";
  ASSERT_TRUE(next.Restore(catalog_.Remembered()).ok());
  EXPECT_TRUE(next.IsAwaited("cuda:90"));
  EXPECT_TRUE(next.IsAwaited("cuda:75"));
  now_ += absl::Seconds(15);
  EXPECT_FALSE(next.IsAwaited("cuda:90"));
  EXPECT_FALSE(next.IsAwaited("cuda:75"));
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

TEST_F(TargetCatalogTest, RememberedTargetsSurviveARestart) {
  catalog_.WorkerAttached("w1", "b1", {Target("cuda:90")});
  TargetCatalog next({1}, [this] { return now_; });
  ASSERT_TRUE(next.Restore(catalog_.Remembered()).ok());
  ASSERT_TRUE(next.Find("cuda:90").has_value());
  EXPECT_EQ(next.Find("cuda:90")->build_id, "b1");
  EXPECT_FALSE(next.Find("cuda:90")->attached);
}

TEST_F(TargetCatalogTest, WorkersWithEverNewTargetsDoNotFillMemory) {
  TargetCatalog::Config config;
  config.most_remembered = 3;
  TargetCatalog catalog(config, [this] { return now_; });
  catalog.WorkerAttached("stays", "b1", {Target("cuda:90"), Target("cuda:80")});
  for (int i = 0; i < 20; ++i) {
    const std::string worker = absl::StrCat("w", i);
    catalog.WorkerAttached(worker, "b1", {Target(absl::StrCat("cuda:", 100 + i))});
    now_ += absl::Seconds(1);
    catalog.WorkerGone(worker);
  }
  std::vector<std::string> names;
  for (const KnownTarget& target : catalog.List()) names.push_back(target.name);
  EXPECT_THAT(names, testing::ElementsAre("cuda:117", "cuda:118", "cuda:119", "cuda:80", "cuda:90"));

  TargetCatalog next(config, [this] { return now_; });
  ASSERT_TRUE(next.Restore(catalog.Remembered()).ok());
  EXPECT_EQ(next.List().size(), 3u) << "five were remembered, and none has a worker";
}

TEST_F(TargetCatalogTest, RefusesToRestoreNonsense) {
  for (const char* text : {"", "{}", "[1]", "[{\"name\":\"x\"}]", "[{\"name\":1,\"build_id\":\"b\"}]"}) {
    EXPECT_EQ(catalog_.Restore(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_TRUE(catalog_.List().empty());
}

}  // namespace
}  // namespace tritond::server
