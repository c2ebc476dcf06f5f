// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/feature_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(FeatureTable, NumbersOfANameHaveTheWordsBeforeThem) {
  EXPECT_THAT(NumbersInName("BLOCK_M=128, BLOCK_N: 64, num_warps 8"),
              UnorderedElementsAre(Pair("BLOCK_M", 128), Pair("BLOCK_N", 64), Pair("num_warps", 8)));
  EXPECT_THAT(NumbersInName("w8 s3"), UnorderedElementsAre(Pair("w", 8), Pair("s", 3)));
}

TEST(FeatureTable, NumbersWithoutAWordAreCalledByTheirPlace) {
  EXPECT_THAT(NumbersInName("128x64x32 w4"),
              UnorderedElementsAre(Pair("0", 128), Pair("1", 64), Pair("2", 32), Pair("w", 4)));
  EXPECT_THAT(NumbersInName("a=1 a=2"), UnorderedElementsAre(Pair("a", 1), Pair("1", 2)));
}

TEST(FeatureTable, NamesWithoutNumbersHaveNone) {
  EXPECT_THAT(NumbersInName(""), IsEmpty());
  EXPECT_THAT(NumbersInName("fast"), IsEmpty());
  EXPECT_THAT(NumbersInName("1.2.3"), IsEmpty());
}

TEST(FeatureTable, ColumnsAreRanksFromZeroToOne) {
  EXPECT_THAT(FeatureTable({{{"b", 256}}, {{"b", 64}}, {{"b", 128}}}),
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(0.5)));
}

TEST(FeatureTable, ConstantAndEqualFeaturesAreLeftOut) {
  const auto table = FeatureTable({{{"a", 1}, {"b", 10}, {"c", 7}}, {{"a", 2}, {"b", 20}, {"c", 7}}});
  EXPECT_THAT(table, ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FeatureTable, MissingValuesAndTextsCountAsSmaller) {
  EXPECT_THAT(FeatureTable({{{"a", 0}}, {}, {{"a", std::nan("")}}}),
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(0)));
}

TEST(FeatureTable, CandidatesWithoutNumbersHaveEmptyRows) {
  EXPECT_THAT(FeatureTable({{}, {}}), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(FeatureTable({}), IsEmpty());
}

}  // namespace
}  // namespace tritond::server
