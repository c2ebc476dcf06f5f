// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/turn_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TurnReport Report(std::vector<Visit> visits) { return {std::move(visits), 1}; }

TEST(TurnRecord, TurnsGoForthAndBack) {
  const Turn turn{{4, 2, 9}};
  EXPECT_THAT(OrderOf(turn, 0), ElementsAre(4, 2, 9));
  EXPECT_THAT(OrderOf(turn, 1), ElementsAre(9, 2, 4));
  EXPECT_THAT(OrderOf(turn, 2), ElementsAre(4, 2, 9));
}

TEST(TurnRecord, ATurnOnAHotterDeviceDoesNotMakeItsCandidatesSlower) {
  TurnRecord record(3);
  record.Add(Report({{0, 0, {100}}, {1, 0, {110}}}));
  record.Add(Report({{1, 0, {121}}, {2, 0, {105}}}));  // 10 % hotter: 2 would take 95.5.
  EXPECT_THAT(record.Ranking(), ElementsAre(2, 0, 1));
  EXPECT_NEAR(std::exp(record.LevelOf(2)), 105 / 1.1, 1e-9);
  EXPECT_NEAR(std::exp(record.LevelOf(1)), 110, 1e-9);
}

TEST(TurnRecord, DriftIsTheMedianOverKnownCandidatesSoOneOutlierDoesNotMoveIt) {
  TurnRecord record(5);
  record.Add(Report({{0, 0, {100}}, {1, 0, {100}}, {2, 0, {100}}}));
  record.Add(Report({{0, 0, {110}}, {1, 0, {900}}, {2, 0, {110}}, {3, 0, {99}}}));
  EXPECT_NEAR(std::exp(record.LevelOf(3)), 90, 1e-9);
}

TEST(TurnRecord, AVisitWithoutSamplesExcludesItsCandidate) {
  TurnRecord record(2);
  record.Add(Report({{0, 0, {}}, {1, 0, {5}}}));
  EXPECT_TRUE(record.IsTried(0));
  EXPECT_TRUE(record.IsExcluded(0));
  EXPECT_FALSE(record.HasLevel(0));
  EXPECT_THAT(record.Ranking(), ElementsAre(1));
  EXPECT_EQ(record.tried(), 2u);
}

TEST(TurnRecord, AnExcludedCandidateCountsForNothingAnyMore) {
  TurnRecord record(2);
  record.Add(Report({{0, 0, {2}}, {1, 0, {5}}}));
  record.Exclude(0);
  EXPECT_THAT(record.Ranking(), ElementsAre(1));
  EXPECT_EQ(record.ShortestVisit(), 5);
}

TEST(TurnRecord, ComparisonsCountRoundsThatVisitBoth) {
  TurnRecord record(3);
  record.Add(Report({{0, 0, {100}}, {1, 0, {101}}, {0, 1, {100}}, {1, 1, {99.5}}, {2, 1, {50}}}));
  record.Add(Report({{0, 0, {100}}, {2, 0, {50}}}));
  EXPECT_EQ(record.Compare(1, 0, 0).trials, 2);
  EXPECT_EQ(record.Compare(1, 0, 0).successes, 1);
  EXPECT_EQ(record.Compare(1, 0, 0.01).successes, 2);
  EXPECT_EQ(record.Compare(1, 2, 0).trials, 1);
}

TEST(TurnRecord, NoiseComesFromNeighbouringRounds) {
  TurnRecord record(2);
  EXPECT_EQ(record.Noise(), 0);
  record.Add(Report({{0, 0, {100}}, {1, 0, {1000}}, {1, 1, {1010}}, {0, 1, {101}}}));
  EXPECT_NEAR(record.Noise(), std::log(1.01) / 0.954, 1e-4);
}

TEST(TurnRecord, SamplesOfAllTurnsAreKept) {
  TurnRecord record(1);
  record.Add(Report({{0, 0, {1, 2}}, {0, 1, {3}}}));
  record.Add(Report({{0, 0, {4}}}));
  EXPECT_THAT(record.SamplesOf(0), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(record.device_seconds(), 2);
}

TEST(TurnRecord, ATurnThatWasCutShortIsNoHarm) {
  TurnRecord record(2);
  record.Add({{}, 0.5});
  EXPECT_THAT(record.Ranking(), IsEmpty());
  EXPECT_EQ(record.ShortestVisit(), 0);
  EXPECT_EQ(record.device_seconds(), 0.5);
}

}  // namespace
}  // namespace tritond::server
