// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/turn_record.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "server/autotune/sample_statistics.h"

namespace tritond::server {
namespace {

// The place of a candidate in a round, by binary search; end() where it was not visited.
template <typename Round>
auto Find(const Round& round, size_t candidate) {
  auto it = std::lower_bound(round.begin(), round.end(), candidate,
                             [](const auto& visit, size_t wanted) { return visit.first < wanted; });
  return it != round.end() && it->first == candidate ? it : round.end();
}

}  // namespace

void TurnRecord::Add(const TurnReport& report) {
  device_seconds_ += report.device_seconds;
  for (const Visit& visit : report.visits) {
    Entry& entry = entries_[visit.candidate];
    tried_ += entry.tried ? 0 : 1;
    entry.tried = true;
    if (visit.samples_us.empty()) Exclude(visit.candidate);
  }
  AddRounds(report);
  UpdateLevels(report);
}

void TurnRecord::AddRounds(const TurnReport& report) {
  const size_t first = rounds_.size();
  for (const Visit& visit : report.visits) {
    if (visit.samples_us.empty()) continue;
    Entry& entry = entries_[visit.candidate];
    entry.samples_us.insert(entry.samples_us.end(), visit.samples_us.begin(), visit.samples_us.end());
    const double median = Median(visit.samples_us);
    if (entry.shortest_us == 0 || median < entry.shortest_us) entry.shortest_us = median;
    rounds_.resize(std::max(rounds_.size(), first + visit.round + 1));
    rounds_[first + visit.round].emplace_back(visit.candidate, std::log(median));
  }
  for (size_t i = first; i < rounds_.size(); ++i) std::sort(rounds_[i].begin(), rounds_[i].end());
  NoteNoise(first);
}

void TurnRecord::NoteNoise(size_t first_round) {
  for (size_t i = first_round + 1; i < rounds_.size(); ++i) {
    for (const auto& [candidate, value] : rounds_[i]) {
      const auto before = Find(rounds_[i - 1], candidate);
      if (before != rounds_[i - 1].end()) steps_.push_back(std::abs(value - before->second));
    }
  }
}

void TurnRecord::UpdateLevels(const TurnReport& report) {
  std::map<size_t, std::vector<double>> values;  // of this turn, by candidate
  for (const Visit& visit : report.visits) {
    if (!visit.samples_us.empty() && !IsExcluded(visit.candidate))
      values[visit.candidate].push_back(std::log(Median(visit.samples_us)));
  }
  std::vector<double> drifts;
  for (const auto& [candidate, logs] : values) {
    if (HasLevel(candidate)) drifts.push_back(Median(logs) - LevelOf(candidate));
  }
  const double drift = drifts.empty() ? 0 : Median(std::move(drifts));
  for (auto& [candidate, logs] : values) {
    Entry& entry = entries_[candidate];
    entry.turns.push_back(Median(std::move(logs)) - drift);
    entry.level = Median(entry.turns);
  }
}

std::vector<size_t> TurnRecord::Ranking() const {
  std::vector<size_t> ranking;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (HasLevel(i)) ranking.push_back(i);
  }
  std::sort(ranking.begin(), ranking.end(),
            [this](size_t a, size_t b) { return std::pair(LevelOf(a), a) < std::pair(LevelOf(b), b); });
  return ranking;
}

double TurnRecord::ShortestVisit() const {
  double shortest = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (HasLevel(i) && (shortest == 0 || entries_[i].shortest_us < shortest)) shortest = entries_[i].shortest_us;
  }
  return shortest;
}

double TurnRecord::Noise() const {
  // The median absolute difference of two normal values is 0.6745 · √2 standard deviations.
  constexpr double kMedianToDeviation = 0.6745 * 1.41421356;
  return steps_.empty() ? 0 : Median(steps_) / kMedianToDeviation;
}

Signs TurnRecord::Compare(size_t slower, size_t faster, double allowance) const {
  Signs signs;
  for (const Round& round : rounds_) {
    const auto a = Find(round, slower), b = Find(round, faster);
    if (a == round.end() || b == round.end()) continue;
    ++signs.trials;
    signs.successes += a->second > b->second - allowance;
  }
  return signs;
}

}  // namespace tritond::server
