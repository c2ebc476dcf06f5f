// SPDX-License-Identifier: Apache-2.0
#include "server/history/job_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

JobRecord Record(const std::string& id) {
  JobRecord record;
  record.job.id = id;
  return record;
}

std::vector<std::string> Ids(const JobHistory& history, size_t limit = 100) {
  std::vector<std::string> ids;
  for (const auto& record : history.Latest(limit)) ids.push_back(record->job.id);
  return ids;
}

TEST(JobHistory, ListsTheNewestFirst) {
  JobHistory history(10);
  for (const char* id : {"a", "b", "c"}) history.Add(Record(id));
  EXPECT_THAT(Ids(history), testing::ElementsAre("c", "b", "a"));
  EXPECT_THAT(Ids(history, 2), testing::ElementsAre("c", "b"));
  EXPECT_EQ(history.Find("b")->job.id, "b");
  EXPECT_EQ(history.Find("d"), nullptr);
}

TEST(JobHistory, ForgetsTheOldestWhenItIsFull) {
  JobHistory history(2);
  for (const char* id : {"a", "b", "c"}) history.Add(Record(id));
  EXPECT_THAT(Ids(history), testing::ElementsAre("c", "b"));
  EXPECT_EQ(history.Find("a"), nullptr);
}

TEST(JobHistory, AReaderKeepsARecordThatIsForgotten) {
  JobHistory history(1);
  history.Add(Record("a"));
  const auto kept = history.Find("a");
  history.Add(Record("b"));
  EXPECT_EQ(kept->job.id, "a");
}

TEST(JobHistory, AJobThatEndsAgainIsListedOnceAndAsItEndedLast) {
  JobHistory history(10);
  history.Add(Record("a"));
  history.Add(Record("b"));
  JobRecord again = Record("a");
  again.job.attempts = 2;
  history.Add(again);
  EXPECT_THAT(Ids(history), testing::ElementsAre("a", "b"));
  EXPECT_EQ(history.Find("a")->job.attempts, 2);
}

TEST(JobHistory, CutsLongTextsBetweenCharacters) {
  JobHistory history(1);
  JobRecord record = Record("a");
  record.job.label = std::string(255, 'x') + "ééé";
  record.job.status = absl::InternalError(std::string(100000, 'm'));
  record.job.status.SetPayload("detail", absl::Cord("large"));
  record.diagnostics.assign(1000, "line");
  history.Add(record);
  const auto kept = history.Find("a");
  EXPECT_EQ(kept->job.label, std::string(255, 'x') + "…");
  EXPECT_EQ(kept->job.status.message().size(), 4096 + std::string("…").size());
  EXPECT_FALSE(kept->job.status.GetPayload("detail").has_value());
  ASSERT_EQ(kept->diagnostics.size(), 21u);
  EXPECT_EQ(kept->diagnostics.back(), "and 980 more");
}

}  // namespace
}  // namespace tritond::server
