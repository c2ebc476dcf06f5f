// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/trusted_keys.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::server {
namespace {

constexpr absl::string_view kRevoked = "revoked";

absl::StatusOr<TrustedKeys::Entry> ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  absl::StatusOr<PublicKey> key = PublicKey::FromText(words[0]);
  if (!key.ok()) return key.status();
  if (words.size() < 2 || !TrustedKeys::IsName(words[1]))
    return absl::InvalidArgumentError("after the key must come a name of letters, digits and ._:/@-");
  if (words.size() > 3 || (words.size() == 3 && words[2] != kRevoked))
    return absl::InvalidArgumentError("after the name may come the word revoked, and nothing else");
  return TrustedKeys::Entry{*std::move(key), std::string(words[1]), words.size() == 3};
}

}  // namespace

bool TrustedKeys::IsName(absl::string_view name) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(c) || absl::string_view("._:/@-").find(c) != absl::string_view::npos;
  };
  return !name.empty() && name.size() <= 128 && name != kRevoked && std::all_of(name.begin(), name.end(), allowed);
}

absl::StatusOr<TrustedKeys> TrustedKeys::Parse(absl::string_view text) {
  TrustedKeys keys;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    absl::StatusOr<Entry> entry = ParseLine(line);
    if (!entry.ok()) return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", entry.status().message()));
    if (!keys.Add(*std::move(entry)))
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": the key is listed above already"));
  }
  return keys;
}

std::string TrustedKeys::FormatLine(const Entry& entry) {
  return absl::StrCat(entry.key.ToText(), " ", entry.name, entry.revoked ? " revoked" : "");
}

const TrustedKeys::Entry* TrustedKeys::Find(const cache::Digest& id) const {
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &entries_[it->second];
}

bool TrustedKeys::Add(Entry entry) {
  if (!by_id_.emplace(entry.key.id(), entries_.size()).second) return false;
  entries_.push_back(std::move(entry));
  return true;
}

bool TrustedKeys::Believes(const TrustedKeys& earlier) const {
  return std::all_of(earlier.entries_.begin(), earlier.entries_.end(), [this](const Entry& entry) {
    const Entry* now = Find(entry.key.id());
    return entry.revoked || (now != nullptr && !now->revoked);
  });
}

}  // namespace tritond::server
