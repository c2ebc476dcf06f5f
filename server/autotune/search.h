// SPDX-License-Identifier: Apache-2.0
// A search for the fastest of several candidates: the door of this folder.
//
//   Search search(config, features);
//   while (std::optional<Turn> turn = search.Next()) search.Report(/* what the device did */);
//   search.Result();
//
// It explores, then decides. A strategy says what is worth a look. The fastest of what it saw, the finalists, are then
// timed in turns until one is the winner at a stated probability of error.
//
// How it decides. Two finalists are compared in each round that visits both, by sign alone (sign_test.h). A finalist
// that is slower than the current leader leaves. One that is not faster than the leader by more than the indifference
// is settled. When all that are left are settled, the leader has won. Let b be the best of the finalists. The search
// errs only where b is found slower than another, or is settled against a leader that it beats by more than the
// indifference. Each of these tests has the error level divided by twice the number of candidates that were tried. So
// the sum of their errors is at most the error level, however often the search looks. Finalists are chosen by levels,
// with a margin of four deviations and no such promise.
#ifndef SERVER_AUTOTUNE_SEARCH_H_
#define SERVER_AUTOTUNE_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "server/autotune/strategy.h"
#include "server/autotune/turn.h"
#include "server/autotune/turn_record.h"

namespace tritond::server {

struct SearchConfig {
  StrategyKind strategy = StrategyKind::kExhaustive;
  size_t trials = 0;          // most candidates that run; 0: as the strategy sees fit
  double device_seconds = 0;  // most time of the device; 0: no limit
  double error_level = 0.05;
  double indifference = 0.01;  // candidates as close as this count as equal
  int samples = 3;             // a visit's
  uint64_t seed = 0;
};

enum class SearchEnd {
  kGoesOn,
  kClear,       // the winner is clear
  kUnresolved,  // the last finalists stay as close as their noise
  kTimeBudget,  // spent before the winner was clear
  kNone,        // no candidate is left
};

// Not thread-safe. The same calls give the same turns.
class Search final {
 public:
  // `features`: one row a candidate (FeatureTable); rows may be empty, then a model has nothing to learn from.
  Search(const SearchConfig& config, const std::vector<std::vector<double>>& features);

  // What the device is to do next; nothing when the search has ended. Each turn is reported before the next one.
  std::optional<Turn> Next();
  // A report may lack visits, where the device was interrupted.
  void Report(const TurnReport& report);
  // The candidate cannot win: it does not compile or run, or its outputs are wrong. At any time.
  void Exclude(size_t candidate);

  SearchEnd end() const { return end_; }
  // The fastest as far as is known; nothing while none has been timed.
  std::optional<size_t> Winner() const;
  // Those that could be the fastest when the search ended, the winner first.
  const std::vector<size_t>& finalists() const { return finalists_; }
  const TurnRecord& record() const { return record_; }

 private:
  std::optional<Turn> Explore();
  std::optional<Turn> Decide();
  Turn MakeTurn(std::vector<size_t> candidates, int rounds);
  void AddAnchors(std::vector<size_t>* candidates) const;
  void ChooseFinalists();
  void DropSlower();
  bool AllSettled() const;
  double ErrorOfTest() const;
  bool IsTimeSpent(double share) const;
  std::optional<Turn> End(SearchEnd end);

  const SearchConfig config_;
  TurnRecord record_;
  const std::unique_ptr<Strategy> strategy_;
  std::mt19937_64 random_;
  SearchEnd end_ = SearchEnd::kGoesOn;
  bool deciding_ = false;
  std::vector<size_t> finalists_;
  int rounds_ = 0;  // of the decision
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_SEARCH_H_
