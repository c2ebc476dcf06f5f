// SPDX-License-Identifier: Apache-2.0
// A request is an array of bulk strings:
//
//   *2\r\n  $3\r\n GET\r\n  $4\r\n name\r\n
//
// or a line of words. Lines are gathered until their end has come. The bytes of a word go where they stay.
#include "server/redis/request_parser.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::server {
namespace {

// From this many missing bytes on they are read to where they belong. And at most so many at once, so that others have
// their turn.
constexpr uint64_t kLeastTailBytes = 4 << 10;
constexpr uint64_t kMostTailBytes = 256 << 10;
constexpr size_t kMostDigits = 18;

// Digits alone: no sign, no space.
std::optional<uint64_t> NumberOf(absl::string_view digits) {
  uint64_t number = 0;
  if (digits.empty() || digits.size() > kMostDigits ||
      !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) || !absl::SimpleAtoi(digits, &number))
    return std::nullopt;
  return number;
}

std::string Shown(char c) {
  return absl::ascii_isprint(c) ? absl::StrCat("'", std::string(1, c), "'") : "a control byte";
}

}  // namespace

RequestParser::State RequestParser::Read(absl::string_view* input) {
  while (true) {
    if (!problem_.empty()) return State::kMalformed;
    if (needs_room_) return State::kNeedsRoom;
    if (done_) return State::kRequest;
    if (input->empty() && !(step_ == Step::kBytes && left_ == 0)) return State::kNeedsBytes;
    switch (step_) {
      case Step::kFirstLine:
        if (ReadLine(input)) BeginRequest();
        break;
      case Step::kLength:
        if (ReadLine(input)) MeasureWord();
        break;
      case Step::kBytes:
        ReadBytes(input);
        break;
      case Step::kEnd:
        ReadEnd(input);
        break;
    }
  }
}

bool RequestParser::ReadLine(absl::string_view* input) {
  const size_t end = input->find('\n');
  const absl::string_view part = input->substr(0, end);
  if (line_.size() + part.size() > kMostLineBytes) {
    Fail(absl::StrCat("a line is longer than ", kMostLineBytes, " bytes"));
    return false;
  }
  line_.append(part.data(), part.size());
  input->remove_prefix(end == absl::string_view::npos ? input->size() : end + 1);
  if (step_ == Step::kLength && !line_.empty() && line_[0] != '$') {
    Fail(absl::StrCat("expected '$', the length of a bulk string, got ", Shown(line_[0])));
    return false;
  }
  return end != absl::string_view::npos;
}

void RequestParser::BeginRequest() {
  if (line_[0] != '*') return SplitLine();
  const absl::string_view line = line_;
  const std::optional<uint64_t> count = line.back() == '\r' ? NumberOf(line.substr(1, line.size() - 2)) : std::nullopt;
  if (!count.has_value() || *count > kMostWords)
    return Fail(absl::StrCat("the length of an array must be a number of at most ", kMostWords));
  line_.clear();
  if (*count == 0) return;
  words_left_ = *count;
  step_ = Step::kLength;
}

void RequestParser::SplitLine() {
  for (const char quote : {'"', '\''}) {
    if (line_.find(quote) != std::string::npos)
      return Fail("quotes are not taken in inline commands; send an array of bulk strings");
  }
  words_ = absl::StrSplit(line_, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  line_.clear();
  done_ = !words_.empty();  // Empty lines are nothing.
  if (done_) kind_ = RedisRequest::Kind::kInline;
}

void RequestParser::MeasureWord() {
  const absl::string_view line = line_;
  const std::optional<uint64_t> length =
      line.size() > 2 && line.back() == '\r' ? NumberOf(line.substr(1, line.size() - 2)) : std::nullopt;
  if (!length.has_value() || *length > kMostSkippedBytes || used_ > kMostSkippedBytes)
    return Fail(absl::StrCat("the length of a bulk string must be a number of at most ", kMostSkippedBytes));
  line_.clear();
  length_ = *length;
  used_ += length_ + kWordBytes;
  if (skips() || used_ <= room_) return BeginWord();
  needs_room_ = true;
}

void RequestParser::GiveRoom(uint64_t bytes) {
  room_ = bytes;
  needs_room_ = false;
  BeginWord();
}

void RequestParser::Skip(RedisRequest::Kind kind) {
  kind_ = kind;
  words_ = std::vector<std::string>();
  needs_room_ = false;
  BeginWord();
}

void RequestParser::BeginWord() {
  left_ = length_;
  if (!skips()) words_.emplace_back(length_, '\0');
  step_ = Step::kBytes;
}

absl::Span<char> RequestParser::Tail() {
  if (step_ != Step::kBytes || skips() || left_ < kLeastTailBytes) return {};
  return absl::MakeSpan(&words_.back()[length_ - left_], std::min(left_, kMostTailBytes));
}

void RequestParser::FillTail(size_t bytes) { left_ -= bytes; }

void RequestParser::ReadBytes(absl::string_view* input) {
  const size_t count = std::min<uint64_t>(left_, input->size());
  if (!skips() && count > 0) std::memcpy(&words_.back()[length_ - left_], input->data(), count);
  input->remove_prefix(count);
  left_ -= count;
  if (left_ > 0) return;
  step_ = Step::kEnd;
  end_ = 0;
}

void RequestParser::ReadEnd(absl::string_view* input) {
  if (input->front() != "\r\n"[end_]) return Fail("a bulk string is longer than its length says");
  input->remove_prefix(1);
  if (++end_ < 2) return;
  step_ = Step::kLength;
  if (--words_left_ > 0) return;
  step_ = Step::kFirstLine;
  done_ = true;
}

RedisRequest RequestParser::Take() {
  RedisRequest request{kind_, std::move(words_)};
  words_.clear();
  kind_ = RedisRequest::Kind::kArray;
  used_ = 0;
  room_ = kFreeBytes;
  done_ = false;
  return request;
}

}  // namespace tritond::server
