// SPDX-License-Identifier: Apache-2.0
#include "proto/plain_text/nearest_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace tritond::proto {
namespace {

constexpr size_t kLongest = 64;     // of a word that is looked at: the distance takes quadratic time
constexpr size_t kLeastPrefix = 3;  // characters

// Characters to change, add, leave out or swap with their neighbours (optimal string alignment).
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(absl::string_view word, const std::vector<std::string>& words) {
  if (word.size() > kLongest) return "";
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const size_t distance = Distance(word, candidate);
    // Of a short word half or more would be wrong.
    if (distance >= least || 2 * distance >= word.size()) continue;
    least = distance;
    nearest = &candidate;
  }
  if (nearest != nullptr || word.size() < kLeastPrefix) return nearest == nullptr ? "" : *nearest;
  const auto begins = [&](const std::string& candidate) { return absl::StartsWith(candidate, word); };
  if (std::count_if(words.begin(), words.end(), begins) != 1) return "";
  return *std::find_if(words.begin(), words.end(), begins);
}

std::string NearestTarget(absl::string_view target, const std::vector<std::string>& targets) {
  const std::string lower = absl::AsciiStrToLower(target);
  const std::string* nearest = nullptr;
  for (const std::string& candidate : targets) {
    const absl::string_view arch = absl::string_view(candidate).substr(candidate.rfind(':') + 1);
    if (arch.empty() || !absl::EndsWith(lower, arch)) continue;
    const size_t rest = lower.size() - arch.size();
    if (rest > 0 && absl::ascii_isdigit(lower[rest - 1]) && absl::ascii_isdigit(arch[0])) continue;
    if (nearest == nullptr || candidate.size() < nearest->size()) nearest = &candidate;
  }
  return nearest == nullptr ? NearestWord(lower, targets) : *nearest;
}

}  // namespace tritond::proto
