// SPDX-License-Identifier: Apache-2.0
#include "server/app/descriptor_limit.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tritond::server {
namespace {

using testing::HasSubstr;

TEST(DescriptorLimit, EverythingTogetherStaysBelowTheLimit) {
  for (const auto& [limit, redis] : std::initializer_list<std::pair<uint64_t, bool>>{
           {1024, false}, {1024, true}, {4096, false}, {4096, true}, {65536, true}, {1 << 20, true}}) {
    const absl::StatusOr<DescriptorPlan> plan = PlanDescriptors(limit, 16, 0, 0, redis);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->redis_sessions > 0, redis);
    EXPECT_LT(plan->connections + plan->http_sessions + plan->redis_sessions + 2 * plan->rocksdb_files, limit);
    EXPECT_GE(plan->connections, limit / 4 < 16384 ? limit / 4 : 16384);
  }
}

TEST(DescriptorLimit, ARaisedLimitIsGrantedOrRefusedWithTheLimitThatItNeeds) {
  EXPECT_EQ(PlanDescriptors(65536, 2, 0, 5000, false)->connections, 5000);
  const absl::Status refused = PlanDescriptors(1024, 2, 0, 5000, false).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--max-connections"));
  EXPECT_FALSE(PlanDescriptors(256, 2, 0, 0, false).ok());
}

TEST(DescriptorLimit, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(before.rlim_max, 200);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(DescriptorLimit(), low.rlim_cur);
  EXPECT_EQ(RaiseDescriptorLimit(), std::min<rlim_t>(before.rlim_max, 1 << 20));
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(DescriptorLimit, CountsWhatIsOpen) {
  const uint64_t before = OpenDescriptors();
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(OpenDescriptors(), before + 1);
  close(fd);
}

}  // namespace
}  // namespace tritond::server
