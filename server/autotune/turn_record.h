// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_TURN_RECORD_H_
#define SERVER_AUTOTUNE_TURN_RECORD_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "server/autotune/sign_test.h"
#include "server/autotune/turn.h"

namespace tritond::server {

// All that was measured in a search, and what follows from it. Not thread-safe.
//
// The level of a candidate is the logarithm of its time (in µs) as the device was in the first turn. Within a turn the
// level of the device's clock is the same for all, because rounds alternate their order. Between turns it is not: a
// turn's drift is the median difference between what its known candidates took and their levels. So every turn but
// the first visits candidates that are known (Search sees to it), and levels compare over the whole search.
class TurnRecord final {
 public:
  explicit TurnRecord(size_t candidates) : entries_(candidates) {}

  void Add(const TurnReport& report);
  // The candidate counts no more: it failed, or its outputs are wrong.
  void Exclude(size_t candidate) { entries_[candidate].excluded = true; }

  size_t size() const { return entries_.size(); }
  bool IsTried(size_t candidate) const { return entries_[candidate].tried; }
  bool IsExcluded(size_t candidate) const { return entries_[candidate].excluded; }
  // Timed, and not excluded.
  bool HasLevel(size_t candidate) const { return !IsExcluded(candidate) && !entries_[candidate].turns.empty(); }
  double LevelOf(size_t candidate) const { return entries_[candidate].level; }  // of those that have one
  // Of all its turns.
  const std::vector<double>& SamplesOf(size_t candidate) const { return entries_[candidate].samples_us; }

  size_t tried() const { return tried_; }
  double device_seconds() const { return device_seconds_; }

  // Those that have a level, the fastest first.
  std::vector<size_t> Ranking() const;
  // The shortest visit of a candidate that counts, in µs; 0 before the first.
  double ShortestVisit() const;
  // How much two visits of one candidate in neighbouring rounds differ, typically: the standard deviation of a visit's
  // logarithm. 0 before anything was visited twice.
  double Noise() const;
  // In how many of the rounds that visited both `slower` took more than exp(-allowance) times what `faster` did.
  Signs Compare(size_t slower, size_t faster, double allowance) const;

 private:
  struct Entry {
    bool tried = false;
    bool excluded = false;
    double level = 0;
    double shortest_us = 0;
    std::vector<double> turns;  // the logarithm of each turn's time, without the turn's drift
    std::vector<double> samples_us;
  };
  using Round = std::vector<std::pair<size_t, double>>;  // candidate, logarithm of the visit's median; by candidate

  void AddRounds(const TurnReport& report);
  void NoteNoise(size_t first_round);
  void UpdateLevels(const TurnReport& report);

  std::vector<Entry> entries_;
  std::vector<Round> rounds_;
  std::vector<double> steps_;  // between neighbouring rounds of a turn, one for each candidate
  size_t tried_ = 0;
  double device_seconds_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_TURN_RECORD_H_
