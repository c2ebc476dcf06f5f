// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>

#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::map<std::string, std::string> Records(Journal& journal, absl::string_view prefix = "") {
  std::map<std::string, std::string> records;
  std::string last;
  EXPECT_EQ(journal.Visit(prefix,
                          [&](absl::string_view name, absl::string_view value) {
                            EXPECT_GE(name, last) << "records come in order";
                            last = std::string(name);
                            records.emplace(name, value);
                          }),
            absl::OkStatus());
  return records;
}

TEST(RocksdbJournal, RecordsStayUntilTheyAreRemoved) {
  TempDir dir;
  {
    auto journal = RocksdbJournal::Open(dir.path() + "/j");
    ASSERT_TRUE(journal.ok()) << journal.status();
    ASSERT_TRUE((*journal)->Put("b", "2").ok());
    ASSERT_TRUE((*journal)->Put("a", "1").ok());
    ASSERT_TRUE((*journal)->Put("a", "one").ok());
    ASSERT_TRUE((*journal)->Put("c", "3").ok());
    ASSERT_TRUE((*journal)->Remove("c").ok());
    ASSERT_TRUE((*journal)->Remove("never put").ok());
  }
  auto journal = RocksdbJournal::Open(dir.path() + "/j");
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_THAT(Records(**journal), ElementsAre(Pair("a", "one"), Pair("b", "2")));
}

TEST(RocksdbJournal, VisitsOnlyThePrefix) {
  TempDir dir;
  auto journal = RocksdbJournal::Open(dir.path() + "/j");
  ASSERT_TRUE(journal.ok()) << journal.status();
  for (const char* name : {"job/1", "job/2", "joc/1", "jo", "request/1"}) ASSERT_TRUE((*journal)->Put(name, "").ok());
  EXPECT_THAT(Records(**journal, "job/"), ElementsAre(Pair("job/1", ""), Pair("job/2", "")));
}

TEST(RocksdbJournal, GivesOneRecord) {
  TempDir dir;
  auto journal = RocksdbJournal::Open(dir.path() + "/j");
  ASSERT_TRUE(journal.ok()) << journal.status();
  ASSERT_TRUE((*journal)->Put("job/1", "one").ok());
  EXPECT_EQ((*journal)->Get("job/1").value_or(""), "one");
  EXPECT_TRUE(absl::IsNotFound((*journal)->Get("job/").status()));
}

TEST(RocksdbJournal, RecordsOfAKilledProcessAreThere) {
  TempDir dir;
  const pid_t child = fork();
  if (child == 0) {
    auto journal = RocksdbJournal::Open(dir.path() + "/j");
    if (!journal.ok()) _exit(1);
    for (int i = 0; i < 100; ++i)
      if (!(*journal)->Put(absl::StrCat("record ", 100 + i), std::string(1000, 'x')).ok()) _exit(2);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit status " << status;
  auto journal = RocksdbJournal::Open(dir.path() + "/j");
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ(Records(**journal).size(), 100u);
}

TEST(RocksdbJournal, SaysWhereItCannotOpen) {
  TempDir dir;
  auto first = RocksdbJournal::Open(dir.path() + "/j");
  ASSERT_TRUE(first.ok());
  auto second = RocksdbJournal::Open(dir.path() + "/j");
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("journal at " + dir.path()));
  EXPECT_FALSE(RocksdbJournal::Open("/dev/null/j").ok());
}

}  // namespace
}  // namespace tritond::cache
