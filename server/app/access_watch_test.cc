// SPDX-License-Identifier: Apache-2.0
#include "server/app/access_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

namespace tritond::server {
namespace {

using testing::HasSubstr;

class AccessWatchTest : public testing::Test {
 protected:
  AccessWatchTest() {
    std::filesystem::create_directories(folder_);
    Write("tokens: []\n");
  }
  // Each write has a time of its own, however fast they follow.
  void Write(const std::string& text) {
    std::ofstream(file_) << text;
    std::filesystem::last_write_time(file_, std::filesystem::file_time_type::clock::now() - writes_--);
  }
  absl::StatusOr<std::unique_ptr<AccessWatch>> Open() {
    return AccessWatch::Open({file_, false, folder_ + "/worker.token"},
                             [this](const LogEvent& event) { log_.push_back(event); });
  }
  static Role RoleOnTheSocket(const AccessWatch& watch) {
    Credentials credentials;
    credentials.unix_user = 1;
    absl::StatusOr<Caller> caller = watch.policy().Identify(credentials);
    return caller.ok() ? caller->role : Role::kNone;
  }

  const std::string folder_ =
      testing::TempDir() + "/tritond_watch_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string file_ = folder_ + "/access.yaml";
  std::chrono::seconds writes_{1000};
  std::vector<LogEvent> log_;
};

TEST_F(AccessWatchTest, AFileThatIsEmptiedOpensNothing) {
  Write("unix: read\n");
  auto watch = Open();
  ASSERT_TRUE(watch.ok()) << watch.status();
  for (const char* text : {"", "# unix: none\n", "---\n"}) {
    log_.clear();
    Write(text);
    (*watch)->Reload();
    EXPECT_EQ(RoleOnTheSocket(**watch), Role::kRead) << text;
    ASSERT_EQ(log_.size(), 1u);
    EXPECT_EQ(log_[0].level, LogEvent::Level::kWarning);
    EXPECT_THAT(log_[0].message, HasSubstr("access.yaml: is empty"));
  }
  Write("anonymous: none\n");
  (*watch)->Reload();
  EXPECT_EQ(RoleOnTheSocket(**watch), Role::kNone);
  EXPECT_EQ(log_.back().level, LogEvent::Level::kInfo);
}

TEST_F(AccessWatchTest, ADaemonDoesNotStartWithAnEmptyFile) {
  Write("");
  EXPECT_TRUE(absl::IsInvalidArgument(Open().status()));
}

TEST_F(AccessWatchTest, AFileThatIsGoneIsReportedOnceAndTakenWhenItIsBack) {
  Write("unix: read\n");
  auto watch = Open();
  ASSERT_TRUE(watch.ok()) << watch.status();
  std::filesystem::remove(file_);
  (*watch)->Reload();
  (*watch)->Reload();
  EXPECT_EQ(RoleOnTheSocket(**watch), Role::kRead);
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_EQ(log_[0].level, LogEvent::Level::kWarning);
  EXPECT_THAT(log_[0].message, HasSubstr("access.yaml"));
  Write("unix: compile\n");
  (*watch)->Reload();
  EXPECT_EQ(RoleOnTheSocket(**watch), Role::kCompile);
}

TEST_F(AccessWatchTest, AFileThatSeemsUnchangedIsTakenWhenItIsReadAgain) {
  Write("unix: read\n");
  auto watch = Open();
  ASSERT_TRUE(watch.ok()) << watch.status();
  const auto replace = [this](const std::string& text) {  // Its time stays.
    const auto time = std::filesystem::last_write_time(file_);
    std::ofstream(file_) << text;
    std::filesystem::last_write_time(file_, time);
  };
  replace("unix: compile\n");
  (*watch)->Reload();
  EXPECT_EQ(RoleOnTheSocket(**watch), Role::kRead);
  (*watch)->Reload(/*again=*/true);
  EXPECT_EQ(RoleOnTheSocket(**watch), Role::kCompile);
  EXPECT_EQ((*watch)->problem(), "");
  replace("unix: emperor\n");
  for (size_t times = 1; times <= 2; ++times) {
    log_.clear();
    (*watch)->Reload(/*again=*/true);
    EXPECT_EQ(RoleOnTheSocket(**watch), Role::kCompile);
    EXPECT_EQ(log_.size(), 1u);
    EXPECT_THAT((*watch)->problem(), HasSubstr("emperor"));
  }
}

}  // namespace
}  // namespace tritond::server
