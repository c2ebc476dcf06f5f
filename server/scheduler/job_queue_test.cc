// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/job_queue.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

class JobQueueTest : public testing::Test {
 protected:
  void Push(uint64_t id, JobClass job_class, const std::string& tenant, const std::string& target = "cuda:90") {
    queue_.Push({id, {target, "b", false}, job_class, tenant, kStart});
  }
  std::vector<uint64_t> PopAll(absl::Time now = kStart) {
    std::vector<uint64_t> order;
    while (auto id = queue_.Pop([](const Requirement&) { return true; }, now)) order.push_back(*id);
    return order;
  }
  JobQueue queue_{absl::Seconds(30)};
};

TEST_F(JobQueueTest, ServesTheMoreUrgentClassFirst) {
  Push(1, JobClass::kPrebuild, "a");
  Push(2, JobClass::kAutotune, "a");
  Push(3, JobClass::kInteractive, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{3, 2, 1}));
}

TEST_F(JobQueueTest, ServesOneTenantInOrderOfArrival) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kPrebuild, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(JobQueueTest, AlternatesBetweenTenantsHoweverManyJobsOneHas) {
  for (uint64_t id : {1, 2, 3, 4}) Push(id, JobClass::kPrebuild, "greedy");
  for (uint64_t id : {5, 6}) Push(id, JobClass::kPrebuild, "modest");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 5, 2, 6, 3, 4}));
}

TEST_F(JobQueueTest, AJobThatHasWaitedOvertakesYoungerOnesOfAMoreUrgentClass) {
  Push(1, JobClass::kPrebuild, "a");
  const absl::Time later = kStart + absl::Seconds(95);
  queue_.Push({2, {"cuda:90", "b", false}, JobClass::kInteractive, "b", later});
  EXPECT_EQ(PopAll(later), (std::vector<uint64_t>{1, 2}));
}

TEST_F(JobQueueTest, AJobThatCannotRunHereDoesNotBlockOthers) {
  Push(1, JobClass::kInteractive, "a", "hip:gfx942");
  Push(2, JobClass::kPrebuild, "a", "cuda:90");
  auto can_run = [](const Requirement& needs) { return needs.target == "cuda:90"; };
  EXPECT_EQ(queue_.Pop(can_run, kStart), 2u);
  EXPECT_EQ(queue_.Pop(can_run, kStart), std::nullopt);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(JobQueueTest, AReturningJobStandsWhereItStood) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kPrebuild, "a");
  EXPECT_EQ(queue_.Pop([](const Requirement&) { return true; }, kStart), 1u);
  Push(1, JobClass::kPrebuild, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(JobQueueTest, RemoveTakesOutAndCountsFollow) {
  Push(1, JobClass::kPrebuild, "a");
  Push(2, JobClass::kInteractive, "a");
  EXPECT_EQ(queue_.CountOf(JobClass::kPrebuild), 1u);
  EXPECT_EQ(queue_.OldestOf(JobClass::kPrebuild), kStart);
  EXPECT_TRUE(queue_.Remove(1));
  EXPECT_FALSE(queue_.Remove(1));
  EXPECT_EQ(queue_.CountOf(JobClass::kPrebuild), 0u);
  EXPECT_EQ(queue_.OldestOf(JobClass::kPrebuild), absl::InfiniteFuture());
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{2}));
}

}  // namespace
}  // namespace tritond::server
