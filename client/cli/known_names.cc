// SPDX-License-Identifier: Apache-2.0
#include "client/cli/known_names.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/name_prefix.h"

namespace tritond::client {
namespace {

constexpr uint32_t kRecentCompiles = 1000;  // more than a daemon keeps
constexpr size_t kLeastDigits = 4;          // fewer are likely a mistake
constexpr size_t kJobIdSize = 36;

bool IsKeyPrefix(const std::string& word) {
  return word.size() >= kLeastDigits && word.size() < 64 &&
         std::all_of(word.begin(), word.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

absl::StatusOr<std::string> FindKey(const Session& session, Client& client, const std::string& word) {
  if (IsDigest(word)) return word;
  if (!IsKeyPrefix(word)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", word, "\" is not 64 lowercase hex digits, nor the beginning of a key of at least ", kLeastDigits));
  }
  std::vector<std::string> keys;
  const auto stats = client.GetStats(kRecentCompiles, session.Deadline());
  if (!stats.ok()) return stats.status();
  for (const v1::RecentJob& job : stats->recent()) keys.push_back(job.key());
  const auto jobs = client.ListJobs({}, session.Deadline());
  if (!jobs.ok()) return jobs.status();
  for (const v1::Job& job : *jobs) keys.push_back(job.key());
  // Of everything that is stored; a caller of one tenant, or an earlier daemon, goes by what is remembered alone.
  const auto stored = client.FindKeys(word, session.Deadline());
  if (stored.ok()) keys.insert(keys.end(), stored->begin(), stored->end());
  auto key = ExpandPrefix(word, keys);
  if (!absl::IsNotFound(key.status())) return key;
  return absl::NotFoundError(absl::StrCat("no stored result, compile or job has a key that begins with ", word,
                                          stored.ok() ? "" : ", as far as this caller may see",
                                          "; artifacts need all 64 digits"));
}

absl::StatusOr<std::string> FindJob(const Session& session, Client& client, const std::string& word) {
  if (word.size() >= kJobIdSize) return word;
  const auto jobs = client.ListJobs({}, session.Deadline());
  if (!jobs.ok()) return word;
  std::vector<std::string> ids;
  for (const v1::Job& job : *jobs) ids.push_back(job.id());
  auto id = ExpandPrefix(word, ids);
  return absl::IsNotFound(id.status()) ? word : id;
}

}  // namespace tritond::client
