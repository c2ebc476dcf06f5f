// SPDX-License-Identifier: Apache-2.0
#include "server/results/hot_results.h"

#include <gtest/gtest.h>

#include "server/results/result_store.h"

namespace tritond::server {
namespace {

HotResults::Result OfSize(size_t bytes) {
  auto result = std::make_shared<StoredResult>();
  result->artifacts.push_back(cache::Blob(std::string(bytes, 'x')));
  return result;
}

HotResults::Result Find(HotResults& hot, const std::string& key) {
  uint64_t ticket = 0;
  return hot.Find(key, &ticket);
}

TEST(HotResults, FindsWhatWasAddedAndOnlyTheLastUnderAKey) {
  HotResults hot(1 << 20);
  EXPECT_EQ(Find(hot, "a"), nullptr);
  const auto first = OfSize(10), second = OfSize(20);
  hot.Add("a", first);
  EXPECT_EQ(Find(hot, "a"), first);
  hot.Add("a", second);
  EXPECT_EQ(Find(hot, "a"), second);
}

TEST(HotResults, TheLeastRecentlyUsedResultGoesFirst) {
  HotResults hot(100000);
  hot.Add("a", OfSize(20000));
  hot.Add("b", OfSize(20000));
  hot.Add("c", OfSize(20000));
  hot.Add("d", OfSize(20000));
  EXPECT_NE(Find(hot, "a"), nullptr);
  hot.Add("e", OfSize(20000));
  EXPECT_EQ(Find(hot, "b"), nullptr);
  EXPECT_NE(Find(hot, "a"), nullptr);
  EXPECT_NE(Find(hot, "e"), nullptr);
}

TEST(HotResults, OneThatIsTooLargeIsNotTakenAndNoEarlierOneStays) {
  HotResults hot(100000);
  hot.Add("a", OfSize(10));
  hot.Add("a", OfSize(90000));
  EXPECT_EQ(Find(hot, "a"), nullptr);
}

TEST(HotResults, AForgottenResultIsGone) {
  HotResults hot(1 << 20);
  hot.Add("a", OfSize(10));
  hot.Add("b", OfSize(10));
  hot.Forget("a");
  hot.Forget("never there");
  EXPECT_EQ(Find(hot, "a"), nullptr);
  EXPECT_NE(Find(hot, "b"), nullptr);
  hot.ForgetAll();
  EXPECT_EQ(Find(hot, "b"), nullptr);
  hot.Add("c", OfSize(10));
  EXPECT_NE(Find(hot, "c"), nullptr);
}

TEST(HotResults, AResultReadBeforeAChangeIsNotKeptAfterIt) {
  HotResults hot(1 << 20);
  uint64_t before = 0;
  hot.Find("a", &before);
  hot.Forget("a");
  hot.AddFound("a", OfSize(10), before);
  EXPECT_EQ(Find(hot, "a"), nullptr);
  hot.Find("a", &before);
  const auto latest = OfSize(20);
  hot.Add("a", latest);
  hot.AddFound("a", OfSize(10), before);
  EXPECT_EQ(Find(hot, "a"), latest);
  hot.Find("b", &before);
  const auto found = OfSize(10);
  hot.AddFound("b", found, before);
  EXPECT_EQ(Find(hot, "b"), found);
}

}  // namespace
}  // namespace tritond::server
