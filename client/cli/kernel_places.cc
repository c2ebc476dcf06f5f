// SPDX-License-Identifier: Apache-2.0
#include "client/cli/kernel_places.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

// Takes a colon and a number off the front of `text`. False, with `text` as it was, when they are not there.
bool TakeNumber(absl::string_view* text, int* number) {
  if (text->empty() || text->front() != ':') return false;
  size_t end = 1;
  while (end < text->size() && absl::ascii_isdigit((*text)[end])) ++end;
  if (!absl::SimpleAtoi(text->substr(1, end - 1), number)) return false;
  text->remove_prefix(end);
  return true;
}

}  // namespace

std::string LeadPlaces(absl::string_view message, absl::string_view stage, const proto::SourceMap& source) {
  std::string led;
  while (true) {
    const size_t at = message.find(stage);
    if (at == absl::string_view::npos) break;
    const bool inside_a_word = at > 0 && (absl::ascii_isalnum(message[at - 1]) || message[at - 1] == '_');
    absl::StrAppend(&led, message.substr(0, at + stage.size()));
    message.remove_prefix(at + stage.size());
    absl::string_view rest = message;
    proto::TextPlace place;
    if (inside_a_word || !TakeNumber(&rest, &place.line) || !TakeNumber(&rest, &place.column)) continue;
    const proto::TextPlace sent = source.ToSource(place);
    absl::StrAppend(&led, ":", sent.line, ":", sent.column);
    message = rest;
  }
  return absl::StrCat(led, message);
}

}  // namespace tritond::client
