// SPDX-License-Identifier: Apache-2.0
#include "cache/store/redis_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::cache {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(RefusalIn, AnErrorAboutAKeyIsNoRefusal) {
  for (const char* error :
       {"MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381", "TRYAGAIN Multiple keys request during rehashing",
        "CLUSTERDOWN Hash slot not served", "NOGROUP No such key", "BUSYGROUP Consumer Group name already exists",
        "WRONGTYPE Operation against a key holding the wrong kind of value"})
    EXPECT_TRUE(RefusalIn(error).ok()) << error;
}

TEST(RefusalIn, TellsWhatServesNothingFromWhatTakesNoWrites) {
  for (const char* error : {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair",
                            "LOADING Redis is loading the dataset in memory", "CLUSTERDOWN The cluster is down",
                            "DENIED Redis is running in protected mode", "ERR max number of clients reached"})
    EXPECT_EQ(RefusalIn(error).code(), absl::StatusCode::kFailedPrecondition) << error;
  for (const char* error :
       {"OOM command not allowed when used memory > 'maxmemory'.",
        "READONLY You can't write against a read only replica.", "MISCONF Redis is configured to save RDB snapshots",
        "NOREPLICAS Not enough good replicas to write."})
    EXPECT_EQ(RefusalIn(error).code(), absl::StatusCode::kResourceExhausted) << error;
  EXPECT_EQ(RefusalIn("NOPERM this user has no permissions to run the 'eval' command").code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(RefusalIn, FindsTheErrorInsideOfAScripts) {
  const absl::Status refusal =
      RefusalIn("ERR Error running script (call to f_1): @user_script:18: @user_script: 18: -OOM command not allowed");
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refusal.message()), StartsWith("OOM: "));
}

TEST(RefusalIn, QuotesNothingThatTheEngineWasSent) {
  const char* error = "ERR unknown command 'AUTH', with args beginning with: 'hush'";
  EXPECT_THAT(std::string(RefusalIn(error).message()), Not(HasSubstr("hush")));
  EXPECT_THAT(std::string(RefusalIn(error).message()), StartsWith("ERR: "));
  EXPECT_THAT(std::string(LoginRefusalIn(error).message()), Not(HasSubstr("hush")));
  EXPECT_THAT(std::string(RefusalIn("hush hush").message()), Not(HasSubstr("hush")));
}

TEST(LoginRefusalIn, IsNeverAnAnswer) {
  for (const char* error :
       {"WRONGPASS invalid username-password pair", "NOPERM no", "ERR Client sent AUTH", "MOVED 1 a:1"})
    EXPECT_EQ(LoginRefusalIn(error).code(), absl::StatusCode::kFailedPrecondition) << error;
}

TEST(ErrorIn, SaysWhetherAnotherTryMayHelp) {
  EXPECT_TRUE(absl::IsUnavailable(ErrorIn("CLUSTERDOWN Hash slot not served")));
  EXPECT_TRUE(absl::IsUnavailable(ErrorIn("LOADING Redis is loading")));
  EXPECT_TRUE(absl::IsResourceExhausted(ErrorIn("OOM command not allowed")));
  EXPECT_TRUE(absl::IsFailedPrecondition(ErrorIn("NOAUTH Authentication required.")));
  EXPECT_TRUE(absl::IsInternal(ErrorIn("NOGROUP No such key 'x'")));
}

}  // namespace
}  // namespace tritond::cache
