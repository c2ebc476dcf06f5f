// SPDX-License-Identifier: Apache-2.0
#include "client/cli/source_excerpt.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "proto/plain_text/plain_text.h"

namespace tritond::client {
namespace {

constexpr size_t kBefore = 80, kAfter = 40;  // bytes of a line around the caret

bool IsInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Of a terminal that shows a column for each character.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsInsideCharacter(c); }));
}

std::string Shown(absl::string_view text) { return proto::EscapeToPlain(absl::StrReplaceAll(text, {{"\t", " "}})); }

// The nearest place in front of `at` where a character begins.
size_t Begin(absl::string_view text, size_t at) {
  while (at > 0 && at < text.size() && IsInsideCharacter(text[at])) --at;
  return at;
}

}  // namespace

std::string SourceExcerpt(absl::string_view text, int line, int column, bool colour) {
  if (line < 1 || column < 1) return "";
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == absl::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  text = absl::StripSuffix(text.substr(0, text.find('\n')), "\r");
  const size_t at = static_cast<size_t>(column) - 1;
  if (at > text.size()) return "";  // The place after the last character is one, too.
  const size_t from = at > kBefore ? Begin(text, at - kBefore) : 0;
  const size_t to = Begin(text, std::min(text.size(), at + kAfter));
  const std::string before = absl::StrCat(from > 0 ? "..." : "", Shown(text.substr(from, at - from)));
  const std::string rest = absl::StrCat(Shown(text.substr(at, to - at)), to < text.size() ? "..." : "");
  return absl::StrFormat("%6d | %s%s\n       | %s%s\n", line, before, rest, std::string(Width(before), ' '),
                         colour ? "\x1b[1;32m^\x1b[0m" : "^");
}

}  // namespace tritond::client
