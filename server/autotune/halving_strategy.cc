// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/halving_strategy.h"

#include <algorithm>
#include <utility>

namespace tritond::server {

bool HalvingStrategy::Halve(const TurnRecord& record) {
  std::vector<size_t> left;
  for (size_t candidate : field_) {
    if (record.HasLevel(candidate)) left.push_back(candidate);
  }
  if (left.size() <= kFew) return false;
  std::stable_sort(left.begin(), left.end(), [&](size_t a, size_t b) { return record.LevelOf(a) < record.LevelOf(b); });
  left.resize((left.size() + 1) / 2);
  field_ = std::move(left);
  next_ = 0;
  rounds_ *= 2;
  return field_.size() > kFew;
}

std::vector<size_t> HalvingStrategy::Explore(const TurnRecord& record) {
  if (next_ >= field_.size() && !Halve(record)) return {};
  std::vector<size_t> chosen;
  for (; next_ < field_.size() && chosen.size() < kCandidatesOfTurn; ++next_) {
    if (!record.IsExcluded(field_[next_])) chosen.push_back(field_[next_]);
  }
  return chosen.empty() ? Explore(record) : chosen;
}

}  // namespace tritond::server
