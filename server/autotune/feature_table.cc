// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/feature_table.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

bool IsWord(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNumeric(char c) { return absl::ascii_isdigit(c) || c == '.'; }

// The word at the end of `text`, before any of "=", ":" and spaces. Digits belong to it only before such: in "64x32"
// the word before 32 is "x".
absl::string_view WordBefore(absl::string_view text) {
  const size_t size = text.size();
  while (!text.empty() && (text.back() == ' ' || text.back() == '=' || text.back() == ':')) text.remove_suffix(1);
  const bool digits = text.size() < size;
  size_t begin = text.size();
  while (begin > 0 && (IsWord(text[begin - 1]) || (digits && absl::ascii_isdigit(text[begin - 1])))) --begin;
  while (begin < text.size() && !IsWord(text[begin])) ++begin;  // A word begins with a letter.
  return text.substr(begin);
}

// How many different smaller values there are, divided by the most.
std::vector<double> Ranks(const std::vector<double>& values) {
  const std::set<double> distinct(values.begin(), values.end());
  std::map<double, double> rank;
  for (double value : distinct) {
    const auto below = static_cast<double>(rank.size());
    rank[value] = below / static_cast<double>(distinct.size() - 1);
  }
  std::vector<double> ranks;
  for (double value : values) ranks.push_back(rank[value]);
  return ranks;
}

}  // namespace

Numbers NumbersInName(absl::string_view name) {
  Numbers numbers;
  for (size_t i = 0; i < name.size();) {
    if (!absl::ascii_isdigit(name[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < name.size() && IsNumeric(name[end])) ++end;
    double value = 0;
    if (absl::SimpleAtod(name.substr(i, end - i), &value)) {  // "1.2.3" is no number.
      std::string word(WordBefore(name.substr(0, i)));
      // "128x64": the x separates.
      if (word.empty() || word == "x" || numbers.count(word) > 0) word = absl::StrCat(numbers.size());
      numbers[word] = value;
    }
    i = end;
  }
  return numbers;
}

std::vector<std::vector<double>> FeatureTable(const std::vector<Numbers>& candidates) {
  std::set<std::string> names;
  for (const Numbers& numbers : candidates) {
    for (const auto& [name, value] : numbers) names.insert(name);
  }
  std::set<std::vector<double>> columns;
  for (const std::string& name : names) {
    std::vector<double> values;
    for (const Numbers& numbers : candidates) {
      const auto it = numbers.find(name);
      const bool known = it != numbers.end() && !std::isnan(it->second);
      values.push_back(known ? it->second : -std::numeric_limits<double>::infinity());
    }
    if (std::set<double>(values.begin(), values.end()).size() > 1) columns.insert(Ranks(values));
  }
  std::vector<std::vector<double>> rows(candidates.size());
  for (const std::vector<double>& column : columns) {
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
  }
  return rows;
}

}  // namespace tritond::server
