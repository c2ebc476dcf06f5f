// SPDX-License-Identifier: Apache-2.0
#include "server/app/closest_name.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace tritond::server {
namespace {

constexpr size_t kMostLetters = 64;  // of a word worth a look: the table below is quadratic
constexpr size_t kLeastPrefix = 3;

// Damerau and Levenshtein's distance without edits inside a swapped pair. `rows[i][j]`: of the first i letters of `a`
// from the first j of `b`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      rows[i][j] =
          std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string ClosestName(absl::string_view word, const std::vector<std::string>& names) {
  if (word.size() > kMostLetters) return "";
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  std::string closest;
  for (const std::string& name : names) {
    const bool abbreviated = word.size() >= kLeastPrefix && absl::StartsWith(name, word);
    const size_t distance = abbreviated ? 1 : EditDistance(word, name);
    if (distance >= least) continue;
    least = distance;
    closest = name;
  }
  return closest;
}

}  // namespace tritond::server
