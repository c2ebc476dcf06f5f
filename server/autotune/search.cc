// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tritond::server {
namespace {

// Known candidates that a turn visits beside those it explores, to know the turn's drift by.
constexpr size_t kAnchors = 3;
// A visit that takes this many times the shortest one ends with its first sample.
constexpr double kHopeless = 3;
// The decision needs time too.
constexpr double kExploreShare = 0.7;
constexpr size_t kMostFinalists = 16;
// A finalist's level may exceed the leader's by so many deviations of a visit.
constexpr double kFinalistDeviations = 4;
constexpr int kRoundsOfDecision = 4;  // a turn's
constexpr int kMostRoundsOfDecision = 256;

}  // namespace

Search::Search(const SearchConfig& config, const std::vector<std::vector<double>>& features)
    : config_(config),
      record_(features.size()),
      strategy_(MakeStrategy(config.strategy, features, config.trials, config.seed)),
      random_(config.seed + 1) {}

std::optional<Turn> Search::Next() {
  if (end_ != SearchEnd::kGoesOn) return std::nullopt;
  if (!deciding_) {
    if (std::optional<Turn> turn = Explore()) return turn;
    deciding_ = true;
    ChooseFinalists();
  }
  return Decide();
}

void Search::Report(const TurnReport& report) { record_.Add(report); }

void Search::Exclude(size_t candidate) {
  record_.Exclude(candidate);
  finalists_.erase(std::remove(finalists_.begin(), finalists_.end(), candidate), finalists_.end());
}

std::optional<size_t> Search::Winner() const {
  if (!finalists_.empty()) return finalists_.front();
  const std::vector<size_t> ranking = record_.Ranking();
  if (ranking.empty()) return std::nullopt;
  return ranking.front();
}

std::optional<Turn> Search::End(SearchEnd end) {
  end_ = end;
  return std::nullopt;
}

bool Search::IsTimeSpent(double share) const {
  return config_.device_seconds > 0 && record_.device_seconds() >= share * config_.device_seconds;
}

std::optional<Turn> Search::Explore() {
  if (IsTimeSpent(kExploreShare)) return std::nullopt;
  std::vector<size_t> wanted = strategy_->Explore(record_);
  if (config_.trials > 0) {
    size_t room = config_.trials - std::min(config_.trials, record_.tried());
    std::vector<size_t> allowed;
    for (size_t candidate : wanted) {
      if (!record_.IsTried(candidate) && room == 0) continue;
      if (!record_.IsTried(candidate)) --room;
      allowed.push_back(candidate);
    }
    wanted = std::move(allowed);
  }
  if (wanted.empty()) return std::nullopt;
  AddAnchors(&wanted);
  return MakeTurn(std::move(wanted), strategy_->Rounds());
}

void Search::AddAnchors(std::vector<size_t>* candidates) const {
  const std::vector<size_t> ranking = record_.Ranking();
  for (size_t i = 0; i < std::min(kAnchors, ranking.size()); ++i) {
    if (std::find(candidates->begin(), candidates->end(), ranking[i]) == candidates->end())
      candidates->push_back(ranking[i]);
  }
}

Turn Search::MakeTurn(std::vector<size_t> candidates, int rounds) {
  for (size_t left = candidates.size(); left > 1; --left) std::swap(candidates[left - 1], candidates[random_() % left]);
  Turn turn;
  turn.candidates = std::move(candidates);
  turn.rounds = rounds;
  turn.samples = config_.samples;
  turn.stop_above_us = kHopeless * record_.ShortestVisit();
  if (config_.device_seconds > 0)
    turn.device_seconds = std::max(1e-9, config_.device_seconds - record_.device_seconds());
  return turn;
}

void Search::ChooseFinalists() {
  finalists_ = record_.Ranking();
  if (finalists_.size() > kMostFinalists) finalists_.resize(kMostFinalists);
  if (finalists_.empty()) return;
  const double limit = record_.LevelOf(finalists_[0]) + config_.indifference + kFinalistDeviations * record_.Noise();
  while (record_.LevelOf(finalists_.back()) > limit) finalists_.pop_back();
}

double Search::ErrorOfTest() const {
  const double rivals = std::max<double>(1, static_cast<double>(record_.tried()) - 1);
  return config_.error_level / (2 * rivals);
}

void Search::DropSlower() {
  std::sort(finalists_.begin(), finalists_.end(),
            [this](size_t a, size_t b) { return std::pair(record_.LevelOf(a), a) < std::pair(record_.LevelOf(b), b); });
  std::vector<size_t> left = {finalists_[0]};
  for (size_t i = 1; i < finalists_.size(); ++i) {
    if (!IsDecided(record_.Compare(finalists_[i], finalists_[0], 0), ErrorOfTest())) left.push_back(finalists_[i]);
  }
  finalists_ = std::move(left);
}

bool Search::AllSettled() const {
  for (size_t i = 1; i < finalists_.size(); ++i) {
    if (!IsDecided(record_.Compare(finalists_[i], finalists_[0], config_.indifference), ErrorOfTest())) return false;
  }
  return true;
}

std::optional<Turn> Search::Decide() {
  finalists_.erase(std::remove_if(finalists_.begin(), finalists_.end(),
                                  [this](size_t candidate) { return !record_.HasLevel(candidate); }),
                   finalists_.end());
  if (finalists_.empty()) {
    ChooseFinalists();  // All have failed since; others may be left.
    if (finalists_.empty()) return End(SearchEnd::kNone);
  }
  DropSlower();
  if (AllSettled()) return End(SearchEnd::kClear);
  if (IsTimeSpent(1)) return End(SearchEnd::kTimeBudget);
  if (rounds_ >= kMostRoundsOfDecision) return End(SearchEnd::kUnresolved);
  rounds_ += kRoundsOfDecision;
  return MakeTurn(finalists_, kRoundsOfDecision);
}

}  // namespace tritond::server
