// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/call_log.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using grpc::StatusCode;

class CallLogTest : public testing::Test {
 protected:
  bool Wants(CallLog& log, StatusCode code) { return log.Wants(code, now_, &left_out_); }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  uint64_t left_out_ = 0;
};

TEST_F(CallLogTest, FailuresAreToldAndAnswersOnlyWhereAllAre) {
  CallLog failures({}, [](const CallRecord&) {}), all({true}, [](const CallRecord&) {});
  EXPECT_TRUE(Wants(failures, StatusCode::INVALID_ARGUMENT));
  EXPECT_FALSE(Wants(failures, StatusCode::OK));
  EXPECT_FALSE(Wants(failures, StatusCode::NOT_FOUND));
  EXPECT_TRUE(Wants(all, StatusCode::OK));
  EXPECT_TRUE(Wants(all, StatusCode::NOT_FOUND));
}

TEST_F(CallLogTest, AFloodIsCutAndCounted) {
  CallLog log({false, 3}, [](const CallRecord&) {});
  int told = 0;
  for (int i = 0; i < 10; ++i) told += Wants(log, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(told, 3);
  now_ += absl::Seconds(1);
  EXPECT_TRUE(Wants(log, StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_EQ(left_out_, 7u);
  EXPECT_TRUE(Wants(log, StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_EQ(left_out_, 0u);
}

TEST(CodeName, IsGrpcsOwn) {
  EXPECT_EQ(CodeName(StatusCode::OK), "OK");
  EXPECT_EQ(CodeName(StatusCode::DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
}

}  // namespace
}  // namespace tritond::server
