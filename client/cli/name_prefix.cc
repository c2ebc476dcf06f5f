// SPDX-License-Identifier: Apache-2.0
#include "client/cli/name_prefix.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tritond::client {
namespace {

constexpr size_t kMostShown = 4;

}  // namespace

absl::StatusOr<std::string> ExpandPrefix(absl::string_view prefix, const std::vector<std::string>& names) {
  if (prefix.empty()) return absl::InvalidArgumentError("an empty name");
  std::set<std::string> found;
  for (const std::string& name : names) {
    if (name == prefix) return name;
    if (absl::StartsWith(name, prefix)) found.insert(name);
  }
  if (found.size() == 1) return *found.begin();
  if (found.empty()) return absl::NotFoundError(absl::StrCat("nothing begins with ", prefix));
  std::vector<std::string> shown(found.begin(), found.end());
  const size_t more = shown.size() - std::min(shown.size(), kMostShown);
  shown.resize(shown.size() - more);
  return absl::InvalidArgumentError(absl::StrCat(prefix, " is the beginning of several: ", absl::StrJoin(shown, ", "),
                                                 more > 0 ? absl::StrCat(" and ", more, " more") : ""));
}

bool IsDigest(absl::string_view word) {
  return word.size() == 64 &&
         std::all_of(word.begin(), word.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace tritond::client
