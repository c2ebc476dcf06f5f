// SPDX-License-Identifier: Apache-2.0
#include "server/retention/result_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

cache::Digest Name(const std::string& text) { return cache::Digest::Of(text); }

IndexedResult Result(const std::string& key, double cost, const std::map<std::string, uint64_t>& pieces = {}) {
  IndexedResult result{Name(key), 100, {}, cost};
  for (const auto& [piece, size_bytes] : pieces) result.pieces.push_back({Name(piece), size_bytes});
  return result;
}

TEST(ResultIndex, KeysAreFoundByTheirFirstDigits) {
  ResultIndex index;
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) {
    IndexedResult result = Result(absl::StrCat(i), 1);
    result.derived = i % 3 == 0;  // other names of results, which nobody asks for
    index.Add(result);
    if (!result.derived) all.push_back(result.key.ToHex());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(index.KeysWithPrefix("", 1000), all);
  EXPECT_EQ(index.KeysWithPrefix("", 7), std::vector<std::string>(all.begin(), all.begin() + 7));
  EXPECT_THAT(index.KeysWithPrefix(all[40], 2), ElementsAre(all[40]));
  for (const std::string& key : index.KeysWithPrefix("a", 1000)) EXPECT_EQ(key[0], 'a');
  EXPECT_THAT(index.KeysWithPrefix("x", 1000), IsEmpty());
}

TEST(ResultIndex, SharedPiecesCountOnce) {
  ResultIndex index;
  index.Add(Result("a", 1, {{"shared", 1000}, {"of a", 10}}));
  index.Add(Result("b", 1, {{"shared", 1000}}));
  EXPECT_EQ(index.size_bytes(), 100u + 100u + 1000u + 10u);
  const Removal first = index.Remove({Name("a")});
  EXPECT_THAT(first.keys, ElementsAre(Name("a")));
  EXPECT_THAT(first.digests, ElementsAre(Name("of a")));
  const Removal second = index.Remove({Name("b"), Name("unknown")});
  EXPECT_THAT(second.keys, ElementsAre(Name("b")));
  EXPECT_THAT(second.digests, ElementsAre(Name("shared")));
  EXPECT_EQ(index.size_bytes(), 0u);
}

TEST(ResultIndex, AResultInPlaceOfAnotherFreesWhatOnlyThatOneNamed) {
  ResultIndex index;
  index.Add(Result("a", 1, {{"kept", 1000}, {"dropped", 10}}));
  const Removal replaced = index.Add(Result("a", 1, {{"kept", 1000}, {"fresh", 5}}));
  EXPECT_THAT(replaced.keys, IsEmpty());
  EXPECT_THAT(replaced.digests, ElementsAre(Name("dropped")));
  EXPECT_EQ(index.size_bytes(), 100u + 1000u + 5u);
  EXPECT_EQ(index.size(), 1u);
}

TEST(ResultIndex, TheCheapestToRebuildGoFirst) {
  ResultIndex index;
  index.Add(Result("dear", 60));
  index.Add(Result("cheap", 0.5));
  index.Add(Result("fair", 5));
  EXPECT_THAT(index.Shrink(200).keys, ElementsAre(Name("cheap")));
  EXPECT_THAT(index.Shrink(100).keys, ElementsAre(Name("fair")));
  EXPECT_THAT(index.Keys(), ElementsAre(Name("dear")));
}

TEST(ResultIndex, LargeResultsGoBeforeSmallOnesOfTheSameCost) {
  ResultIndex index;
  index.Add(Result("small", 1));
  index.Add(Result("large", 1, {{"digest", 1 << 20}}));
  EXPECT_THAT(index.Shrink(1000).keys, ElementsAre(Name("large")));
}

TEST(ResultIndex, UsesSaveAResult) {
  ResultIndex index;
  index.Add(Result("used", 1));
  index.Add(Result("idle", 1.5));
  index.Touch(Name("used"));
  EXPECT_THAT(index.Shrink(100).keys, ElementsAre(Name("idle")));
}

TEST(ResultIndex, UnusedResultsGoInTheEnd) {
  ResultIndex index;
  index.Add(Result("once popular", 1));
  for (int i = 0; i < 20; ++i) index.Touch(Name("once popular"));
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    index.Add(Result(absl::StrCat("later ", i), 1));
    for (const cache::Digest& key : index.Shrink(300).keys) gone |= key == Name("once popular");
  }
  EXPECT_TRUE(gone);
}

TEST(ResultIndex, TheNewestResultStaysUntilAnotherComes) {
  ResultIndex index;
  index.Add(Result("dear", 60));
  index.Add(Result("fresh", 0.1, {{"large", 10000}}));
  EXPECT_THAT(index.Shrink(150, /*spare_latest=*/true).keys, ElementsAre(Name("dear")));
  EXPECT_EQ(index.size(), 1u);
  index.Add(Result("next", 0.1));
  EXPECT_THAT(index.Shrink(150, /*spare_latest=*/true).keys, ElementsAre(Name("fresh")));
  EXPECT_THAT(index.Keys(), ElementsAre(Name("next")));
}

TEST(ResultIndex, TheNewestResultStaysWhenItsStepsFollow) {
  ResultIndex index;
  index.Add(Result("fresh", 0.1, {{"large", 10000}}));
  for (const char* step : {"semantic", "assembly"}) {
    IndexedResult derived = Result(step, 60, {{step, 1000}});
    derived.derived = true;
    index.Add(derived);
    EXPECT_THAT(index.Shrink(150, /*spare_latest=*/true).keys, IsEmpty());
  }
}

TEST(ResultIndex, RecentResultsStayUpToAnEighthOfTheLimit) {
  ResultIndex index;
  for (int i = 0; i < 16; ++i) index.Add(Result(absl::StrCat("dear ", i), 60));
  for (int i = 0; i < 3; ++i) {
    index.Add(Result(absl::StrCat("cheap ", i), 0.1));
    index.Shrink(1600, /*spare_latest=*/true);
  }
  const std::vector<cache::Digest> keys = index.Keys();
  EXPECT_EQ(keys.size(), 16u);
  EXPECT_THAT(keys, testing::IsSupersetOf({Name("cheap 1"), Name("cheap 2")}));
  EXPECT_THAT(keys, testing::Not(testing::Contains(Name("cheap 0"))));
}

TEST(ResultIndex, AllCanGo) {
  ResultIndex index;
  index.Add(Result("a", 1, {{"x", 1}}));
  index.Add({Name("empty"), 0, {}, 0});
  const Removal removal = index.RemoveAll();
  EXPECT_THAT(removal.keys, UnorderedElementsAre(Name("a"), Name("empty")));
  EXPECT_THAT(removal.digests, ElementsAre(Name("x")));
  EXPECT_EQ(index.size(), 0u);
}

IndexedResult ResultOf(const std::string& key, const std::string& target, const std::string& build, int64_t created) {
  IndexedResult result = Result(key, 1);
  result.target = target;
  result.build_id = build;
  result.created = absl::FromUnixSeconds(created);
  return result;
}

TEST(ResultIndex, BuildsComeInTheOrderOfTheirNewestResults) {
  ResultIndex index;
  index.Add(ResultOf("a", "cuda:90", "old", 10));
  index.Add(ResultOf("b", "cuda:90", "new", 20));
  index.Add(ResultOf("c", "cuda:90", "old", 5));
  index.Add(ResultOf("d", "cuda:80", "third", 30));
  EXPECT_THAT(index.Builds("cuda:90"), ElementsAre("new", "old"));
  EXPECT_THAT(index.Builds("cuda:9"), IsEmpty());
  EXPECT_THAT(index.Targets(), ElementsAre("cuda:80", "cuda:90"));
  index.Add(ResultOf("e", "cuda:90", "old", 21));
  EXPECT_THAT(index.Builds("cuda:90"), ElementsAre("old", "new"));
}

TEST(ResultIndex, ABuildGoesWithItsLastResult) {
  ResultIndex index;
  index.Add(ResultOf("a", "cuda:90", "one", 10));
  index.Add(ResultOf("b", "cuda:90", "one", 11));
  index.Add(ResultOf("a", "cuda:90", "two", 12));  // In place of the first.
  EXPECT_THAT(index.Builds("cuda:90"), ElementsAre("two", "one"));
  index.Remove({Name("b")});
  EXPECT_THAT(index.Builds("cuda:90"), ElementsAre("two"));
  IndexedResult derived = ResultOf("step", "cuda:90", "three", 13);
  derived.derived = true;
  index.Add(derived);
  index.Add(Result("of an earlier version", 1));
  EXPECT_THAT(index.Builds("cuda:90"), ElementsAre("two"));
  index.RemoveAll();
  EXPECT_THAT(index.Targets(), IsEmpty());
}

TEST(ResultIndex, NothingGoesWhileThereIsRoom) {
  ResultIndex index;
  index.Add(Result("a", 1));
  EXPECT_THAT(index.Shrink(100).keys, IsEmpty());
  index.Touch(Name("unknown"));
  EXPECT_EQ(index.size(), 1u);
}

}  // namespace
}  // namespace tritond::server
