// SPDX-License-Identifier: Apache-2.0
#include "server/admission/worker_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/admission/target_catalog.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Arrival = WorkerWait::Arrival;

// A caller who acts whenever the wait looks at it, so that no test needs a second thread or a sleep.
class ActiveCaller final : public WaitingCaller {
 public:
  bool IsGone() override {
    if (step < steps.size()) steps[step++]();
    return gone;
  }
  void OnWait(const std::string& why) override { told.push_back(why); }

  std::vector<std::function<void()>> steps;  // one for each look
  size_t step = 0;
  bool gone = false;
  std::vector<std::string> told;
};

class AwaitWorkerTest : public testing::Test {
 protected:
  static TargetCatalog::Config Config() {
    TargetCatalog::Config config;
    config.worker_wait = absl::Seconds(30);
    return config;
  }
  void Attach() {
    KnownTarget target;
    target.name = "cuda:90";
    catalog_.WorkerAttached("worker", "build", {target});
  }
  void Pass(absl::Duration time) {
    now_ += time;
    catalog_.Tick();
  }

  absl::Time now_ = absl::UnixEpoch();
  TargetCatalog catalog_{Config(), [this] { return now_; }};
  ActiveCaller caller_;
};

TEST_F(AwaitWorkerTest, AnAttachedTargetNeedsNoWaitAndNoNotice) {
  Attach();
  EXPECT_EQ(*AwaitWorker(catalog_, "cuda:90", caller_), Arrival::kAttached);
  EXPECT_THAT(caller_.told, IsEmpty());
}

TEST_F(AwaitWorkerTest, TheWaitIsToldOnceAndEndsWithTheWorker) {
  caller_.steps = {[] {}, [this] { Attach(); }};
  EXPECT_EQ(*AwaitWorker(catalog_, "cuda:90", caller_), Arrival::kAttached);
  EXPECT_THAT(caller_.told, ElementsAre("no worker compiles for cuda:90 yet"));
}

TEST_F(AwaitWorkerTest, TheWaitIsBounded) {
  caller_.steps = {[this] { Pass(absl::Seconds(31)); }};
  EXPECT_EQ(*AwaitWorker(catalog_, "cuda:90", caller_), Arrival::kNoWorker);
}

TEST_F(AwaitWorkerTest, ACallerWhoLeavesWaitsNoMore) {
  caller_.steps = {[this] { caller_.gone = true; }};
  EXPECT_TRUE(absl::IsCancelled(AwaitWorker(catalog_, "cuda:90", caller_).status()));
  EXPECT_THAT(catalog_.Standings(), IsEmpty()) << "nothing waits for it any more";
}

TEST_F(AwaitWorkerTest, AWorkerThatComesAsTheCallerLeavesIsTheOutcome) {
  caller_.steps = {[this] {
    Attach();
    caller_.gone = true;
  }};
  EXPECT_EQ(*AwaitWorker(catalog_, "cuda:90", caller_), Arrival::kAttached);
}

}  // namespace
}  // namespace tritond::server
