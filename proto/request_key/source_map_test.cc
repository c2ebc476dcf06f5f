// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/source_map.h"

#include <gtest/gtest.h>

namespace tritond::proto {
namespace {

TEST(SourceMap, WithoutStepsLeadsToTheSamePlace) {
  const SourceMap map;
  EXPECT_EQ(map.ToSource({3, 4}), (TextPlace{3, 4}));
  EXPECT_EQ(map.ToSource({0, 0}), (TextPlace{0, 0}));
  EXPECT_TRUE(map.empty());
}

TEST(SourceMap, KeepsOnlyChanges) {
  SourceMap map;
  map.Add({1, 1}, {1, 1});
  map.Add({2, 5}, {2, 5});
  EXPECT_TRUE(map.empty());
}

TEST(SourceMap, LinesStayAheadUntilTheNextStep) {
  SourceMap map;
  map.Add({2, 1}, {4, 1});
  map.Add({9, 1}, {9, 1});
  EXPECT_EQ(map.ToSource({1, 7}), (TextPlace{1, 7}));
  EXPECT_EQ(map.ToSource({2, 7}), (TextPlace{4, 7}));
  EXPECT_EQ(map.ToSource({8, 7}), (TextPlace{10, 7}));
  EXPECT_EQ(map.ToSource({9, 7}), (TextPlace{9, 7}));
}

TEST(SourceMap, ColumnsStayAheadUntilTheEndOfTheLine) {
  SourceMap map;
  map.Add({1, 1}, {1, 1});
  map.Add({1, 10}, {1, 30});
  map.Add({1, 20}, {1, 60});
  map.Add({2, 5}, {2, 5});
  EXPECT_EQ(map.ToSource({1, 9}), (TextPlace{1, 9}));
  EXPECT_EQ(map.ToSource({1, 12}), (TextPlace{1, 32}));
  EXPECT_EQ(map.ToSource({1, 21}), (TextPlace{1, 61}));
  EXPECT_EQ(map.ToSource({2, 21}), (TextPlace{2, 21}));
}

TEST(SourceMap, BytesGiveTheSameMap) {
  SourceMap map;
  map.Add({1, 1}, {1, 1});
  map.Add({1, 10}, {1, 30});
  map.Add({2, 1}, {40000000, 1});
  const std::optional<SourceMap> read = SourceMap::Parse(map.Serialize());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->ToSource({1, 12}), (TextPlace{1, 32}));
  EXPECT_EQ(read->ToSource({3, 7}), (TextPlace{40000001, 7}));
  EXPECT_EQ(read->Serialize(), map.Serialize());
  EXPECT_TRUE(SourceMap::Parse(SourceMap().Serialize())->empty());
}

TEST(SourceMap, OtherBytesGiveNone) {
  SourceMap map;
  map.Add({2, 1}, {4, 1});
  const std::string bytes = map.Serialize();
  EXPECT_FALSE(SourceMap::Parse("").has_value());
  EXPECT_FALSE(SourceMap::Parse(bytes.substr(0, bytes.size() - 1)).has_value());
  EXPECT_FALSE(SourceMap::Parse(bytes.substr(0, bytes.size() - 4)).has_value());
  EXPECT_FALSE(SourceMap::Parse("\xff\xff\xff\xff").has_value());
}

}  // namespace
}  // namespace tritond::proto
