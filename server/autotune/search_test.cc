// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using TimeOf = std::function<double(size_t)>;  // in µs; 0: it fails

// What a device without noise reports.
TurnReport RunExactly(const Turn& turn, const TimeOf& time_of) {
  TurnReport report;
  for (int round = 0; round < turn.rounds; ++round) {
    for (size_t candidate : OrderOf(turn, round)) {
      const double time = time_of(candidate);
      Visit visit{candidate, round, {}};
      if (time > 0) visit.samples_us.assign(turn.samples, time);
      report.device_seconds += time * 1e-6 * turn.samples;
      report.visits.push_back(std::move(visit));
    }
  }
  return report;
}

std::vector<std::vector<double>> Line(size_t size) {
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < size; ++i) rows.push_back({static_cast<double>(i) / static_cast<double>(size)});
  return rows;
}

void Finish(Search* search, const TimeOf& time_of) {
  while (const std::optional<Turn> turn = search->Next()) search->Report(RunExactly(*turn, time_of));
}

class EveryStrategy : public testing::TestWithParam<StrategyKind> {
 protected:
  SearchConfig Config() const {
    SearchConfig config;
    config.strategy = GetParam();
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(Search, EveryStrategy,
                         testing::Values(StrategyKind::kExhaustive, StrategyKind::kRandom, StrategyKind::kHalving,
                                         StrategyKind::kModelGuided),
                         [](const auto& info) { return absl::StrCat(static_cast<int>(info.param)); });

TEST_P(EveryStrategy, FindsTheFastestOfAFew) {
  Search search(Config(), Line(30));
  Finish(&search, [](size_t i) { return i == 17 ? 90.0 : 100.0 + static_cast<double>(i); });
  EXPECT_EQ(search.Winner(), 17u);
  EXPECT_EQ(search.end(), SearchEnd::kClear);
}

TEST_P(EveryStrategy, ASingleCandidateWinsWithoutARival) {
  Search search(Config(), Line(1));
  Finish(&search, [](size_t) { return 5.0; });
  EXPECT_EQ(search.Winner(), 0u);
  EXPECT_EQ(search.end(), SearchEnd::kClear);
}

TEST_P(EveryStrategy, NoCandidatesGiveNoWinner) {
  Search search(Config(), {});
  Finish(&search, [](size_t) { return 5.0; });
  EXPECT_EQ(search.Winner(), std::nullopt);
  EXPECT_EQ(search.end(), SearchEnd::kNone);
}

TEST_P(EveryStrategy, WhereAllFailThereIsNoWinner) {
  Search search(Config(), Line(40));
  Finish(&search, [](size_t) { return 0.0; });
  EXPECT_EQ(search.Winner(), std::nullopt);
  EXPECT_EQ(search.end(), SearchEnd::kNone);
}

TEST_P(EveryStrategy, FailingCandidatesAreTriedOnce) {
  Search search(Config(), Line(40));
  std::map<size_t, int> turns;
  while (const std::optional<Turn> turn = search.Next()) {
    for (size_t i : turn->candidates) ++turns[i];
    search.Report(RunExactly(*turn, [](size_t i) { return i % 2 == 0 ? 0.0 : 100.0 - static_cast<double>(i); }));
  }
  EXPECT_EQ(search.Winner(), 39u);
  for (const auto& [candidate, count] : turns) {
    EXPECT_TRUE(candidate % 2 == 1 || count == 1) << candidate;
  }
}

TEST_P(EveryStrategy, ExcludedCandidatesAreNeitherVisitedNorChosen) {
  Search search(Config(), Line(40));
  for (size_t i = 0; i < 20; ++i) search.Exclude(i);
  while (const std::optional<Turn> turn = search.Next()) {
    for (size_t i : turn->candidates) EXPECT_GE(i, 20u);
    search.Report(RunExactly(*turn, [](size_t i) { return 100.0 + static_cast<double>(i); }));
  }
  EXPECT_EQ(search.Winner(), 20u);
}

TEST_P(EveryStrategy, TheBudgetOfTrialsHolds) {
  SearchConfig config = Config();
  config.trials = 20;
  Search search(config, Line(500));
  Finish(&search, [](size_t i) { return 100.0 + static_cast<double>(i); });
  EXPECT_LE(search.record().tried(), 20u);
  EXPECT_GE(search.record().tried(), 10u);
  EXPECT_TRUE(search.Winner().has_value());
}

TEST_P(EveryStrategy, TheBudgetOfTimeEndsTheSearchWithTheBestSoFar) {
  SearchConfig config = Config();
  config.device_seconds = 0.004;
  Search search(config, Line(500));
  Finish(&search, [](size_t) { return 100.0; });
  EXPECT_TRUE(search.Winner().has_value());
  EXPECT_EQ(search.end(), SearchEnd::kTimeBudget);
  EXPECT_LT(search.record().device_seconds(), 0.02);  // The device of this test does not heed a turn's limit.
}

TEST_P(EveryStrategy, EqualCandidatesAreSettledAndNotRacedForEver) {
  Search search(Config(), Line(10));
  Finish(&search, [](size_t) { return 100.0; });
  EXPECT_EQ(search.end(), SearchEnd::kClear);
}

TEST_P(EveryStrategy, CandidatesWithoutFeaturesAreNoHarm) {
  Search search(Config(), std::vector<std::vector<double>>(50));
  Finish(&search, [](size_t i) { return 100.0 + static_cast<double>(i); });
  EXPECT_TRUE(search.Winner().has_value());
}

TEST_P(EveryStrategy, ADeviceThatReportsNothingEndsTheSearch) {
  SearchConfig config = Config();
  config.device_seconds = 1;
  Search search(config, Line(100));
  int turns = 0;
  while (search.Next().has_value() && ++turns < 100000) search.Report({{}, 0.1});
  EXPECT_LT(turns, 100);
  EXPECT_EQ(search.Winner(), std::nullopt);
}

TEST_P(EveryStrategy, TheSameSeedGivesTheSameTurns) {
  Search a(Config(), Line(60)), b(Config(), Line(60));
  const TimeOf time_of = [](size_t i) { return 50.0 + static_cast<double>(i % 7); };
  while (true) {
    const std::optional<Turn> x = a.Next(), y = b.Next();
    ASSERT_EQ(x.has_value(), y.has_value());
    if (!x.has_value()) break;
    ASSERT_EQ(x->candidates, y->candidates);
    a.Report(RunExactly(*x, time_of));
    b.Report(RunExactly(*y, time_of));
  }
}

TEST(Search, EveryTurnButTheFirstVisitsKnownCandidates) {
  Search search(SearchConfig(), Line(100));
  std::set<size_t> known;
  while (const std::optional<Turn> turn = search.Next()) {
    bool anchored = known.empty();
    for (size_t i : turn->candidates) anchored |= known.count(i) > 0;
    EXPECT_TRUE(anchored);
    known.insert(turn->candidates.begin(), turn->candidates.end());
    search.Report(RunExactly(*turn, [](size_t i) { return 100.0 + static_cast<double>(i); }));
  }
  EXPECT_EQ(known.size(), 100u);
}

TEST(Search, AWinnerThatTurnsOutWrongLeavesTheFieldToTheNext) {
  Search search(SearchConfig(), Line(5));
  Finish(&search, [](size_t i) { return 100.0 + 10 * static_cast<double>(i); });
  ASSERT_EQ(search.Winner(), 0u);
  search.Exclude(0);
  EXPECT_EQ(search.Winner(), 1u);
}

TEST(Search, SlowCandidatesCostOneSampleAVisit) {
  Search search(SearchConfig(), Line(40));
  ASSERT_TRUE(search.Next().has_value());
  search.Report({{{0, 0, {10}}, {1, 0, {12}}}, 1});
  EXPECT_DOUBLE_EQ(search.Next()->stop_above_us, 30);
}

}  // namespace
}  // namespace tritond::server
