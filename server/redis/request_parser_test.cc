// SPDX-License-Identifier: Apache-2.0
#include "server/redis/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = RequestParser::State;
using Kind = RedisRequest::Kind;

// What has come of some bytes, one line a request, and the problem at their end.
struct Parsed {
  std::vector<std::string> requests;
  std::string problem;
  friend bool operator==(const Parsed& a, const Parsed& b) {
    return a.requests == b.requests && a.problem == b.problem;
  }
};

std::string Line(const RedisRequest& request) {
  std::string line = absl::StrCat(static_cast<int>(request.kind));
  for (const std::string& word : request.words) absl::StrAppend(&line, "|", word);
  return line;
}

constexpr uint64_t kLimit = 100000;

Parsed Parse(const std::vector<std::string>& pieces, bool use_tail = false) {
  RequestParser parser;
  Parsed parsed;
  for (const std::string& piece : pieces) {
    absl::string_view input = piece;
    while (true) {
      if (const absl::Span<char> tail = parser.Tail(); use_tail && !tail.empty() && !input.empty()) {
        const size_t count = std::min(tail.size(), input.size());
        std::memcpy(tail.data(), input.data(), count);
        input.remove_prefix(count);
        parser.FillTail(count);
      }
      const State state = parser.Read(&input);
      if (state == State::kRequest) parsed.requests.push_back(Line(parser.Take()));
      if (state == State::kNeedsRoom && parser.needed_bytes() > kLimit)
        parser.Skip(Kind::kTooLarge);
      else if (state == State::kNeedsRoom)
        parser.GiveRoom(parser.needed_bytes());
      if (state == State::kMalformed) {
        parsed.problem = parser.problem();
        return parsed;
      }
      if (state == State::kNeedsBytes && input.empty()) break;
    }
  }
  return parsed;
}

std::vector<std::string> Bytes(const std::string& text) {
  std::vector<std::string> pieces;
  for (char c : text) pieces.emplace_back(1, c);
  return pieces;
}

std::string Array(const std::vector<std::string>& words) {
  std::string text = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
  return text;
}

TEST(RequestParser, ReadsWordsOfAnyBytes) {
  const std::string binary("\0\r\n*\xff$3", 7);
  EXPECT_THAT(Parse({Array({"SET", "", binary})}).requests, ElementsAre(absl::StrCat("0|SET||", binary)));
  EXPECT_THAT(Parse({Array({"PING"}) + Array({"GET", "a"})}).requests, ElementsAre("0|PING", "0|GET|a"));
  EXPECT_THAT(Parse({"*0\r\n" + Array({"PING"})}).requests, ElementsAre("0|PING")) << "an empty array is nothing";
}

TEST(RequestParser, ReadsLinesOfWords) {
  EXPECT_THAT(Parse({"PING\r\n\r\n\n  GET\ta  \nSET a b\r\n"}).requests, ElementsAre("1|PING", "1|GET|a", "1|SET|a|b"));
  EXPECT_THAT(Parse({"\r\n" + Array({"PING"})}).requests, ElementsAre("0|PING")) << "an array after an empty line";
  EXPECT_THAT(Parse({"PING"}).requests, IsEmpty()) << "a line without its end";
}

TEST(RequestParser, EverySplitGivesTheSame) {
  const std::string text = absl::StrCat(Array({"SET", "key", std::string("\r\n\0x", 4)}), "PING hello\r\n*0\r\n",
                                        Array({"MGET", "", "b"}), "\r\n", Array({"QUIT"}));
  const Parsed whole = Parse({text});
  ASSERT_EQ(whole.requests.size(), 4u);
  for (size_t i = 0; i <= text.size(); ++i)
    EXPECT_EQ(Parse({text.substr(0, i), text.substr(i)}), whole) << "split at " << i;
  EXPECT_EQ(Parse(Bytes(text)), whole);
}

TEST(RequestParser, DamagedBytesGiveTheSameInEverySplit) {
  std::mt19937 random(7);
  const std::string sound =
      absl::StrCat(Array({"SET", "k", "value"}), "PING\r\n", Array({"GET", "k"}), "*1\r\n$300000\r\n");
  const std::string likely = "*$\r\n0123456789-\" ";
  int malformed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = sound;
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      const char with = random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
      if (random() % 3 == 0)
        text.insert(at, 1, with);
      else
        text[at] = with;
    }
    const Parsed whole = Parse({text});
    malformed += whole.problem.empty() ? 0 : 1;
    const size_t split = random() % text.size();
    ASSERT_EQ(Parse({text.substr(0, split), text.substr(split)}), whole) << text;
    ASSERT_EQ(Parse(Bytes(text)), whole) << text;
  }
  EXPECT_GT(malformed, 500) << "the damage is seldom any";
}

TEST(RequestParser, AMalformedStreamStaysMalformed) {
  const std::pair<std::string, std::string> cases[] = {
      {"*x\r\n", "length of an array"},
      {"*-1\r\n", "length of an array"},
      {"* 1\r\n", "length of an array"},
      {"*1\n", "length of an array"},
      {"*\r\n", "length of an array"},
      {"*65537\r\n", "length of an array"},
      {"*99999999999999999999\r\n", "length of an array"},
      {"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', the length of a bulk string, got '*'"},
      {"*1\r\n\x01", "got a control byte"},
      {"*1\r\n:4\r\n", "got ':'"},
      {"*1\r\n$-1\r\n", "length of a bulk string"},
      {"*1\r\n$\r\n", "length of a bulk string"},
      {"*1\r\n$4\n", "length of a bulk string"},
      {"*1\r\n$99999999999\r\n", "length of a bulk string"},
      {"*1\r\n$4\r\nPINGS\r\n", "longer than its length"},
      {"*1\r\n$4\r\nPING\n", "longer than its length"},
      {"SET a \"b c\"\r\n", "quotes"},
      {std::string(20000, 'x'), "a line is longer than"},
      {"*" + std::string(20000, '1'), "a line is longer than"},
  };
  for (const auto& [text, problem] : cases) {
    RequestParser parser;
    absl::string_view input = text;
    EXPECT_EQ(parser.Read(&input), State::kMalformed) << text;
    EXPECT_THAT(parser.problem(), HasSubstr(problem)) << text;
    absl::string_view more = "PING\r\n";
    EXPECT_EQ(parser.Read(&more), State::kMalformed) << text;
  }
}

TEST(RequestParser, AsksForRoomBeforeALongWordComes) {
  RequestParser parser;
  absl::string_view input = "*2\r\n$4\r\nPING\r\n$50000\r\n";
  ASSERT_EQ(parser.Read(&input), State::kNeedsRoom);
  EXPECT_EQ(parser.needed_bytes(), 4 + 50000 + 2 * RequestParser::kWordBytes);
  EXPECT_EQ(parser.Read(&input), State::kNeedsRoom) << "until it is given";
  EXPECT_TRUE(parser.Tail().empty());
  parser.GiveRoom(60000);
  EXPECT_EQ(parser.Read(&input), State::kNeedsBytes);
  EXPECT_EQ(parser.Tail().size(), 50000u);
  std::string rest = std::string(50000, 'v') + "\r\n";
  input = rest;
  ASSERT_EQ(parser.Read(&input), State::kRequest);
  EXPECT_EQ(parser.Take().words[1], std::string(50000, 'v'));
  input = "*1\r\n$50000\r\n";
  EXPECT_EQ(parser.Read(&input), State::kNeedsRoom) << "for each request anew";
}

TEST(RequestParser, WordsThatComeToTheirPlaceAreTheSame) {
  const std::string text = Array({"SET", std::string(5000, 'k'), std::string(90000, 'v')}) + Array({"PING"});
  std::vector<std::string> pieces;
  for (size_t i = 0; i < text.size(); i += 1000) pieces.push_back(text.substr(i, 1000));
  const Parsed parsed = Parse(pieces, /*use_tail=*/true);
  EXPECT_EQ(parsed, Parse({text}));
  EXPECT_EQ(parsed.requests.size(), 2u);
}

TEST(RequestParser, ARequestThatIsReadPastLeavesTheNextOne) {
  const std::string text = Array({"SET", "k", std::string(200000, 'v'), "EX", "9"}) + Array({"PING"});
  EXPECT_THAT(Parse({text}).requests, ElementsAre(absl::StrCat(static_cast<int>(Kind::kTooLarge)), "0|PING"));
  EXPECT_EQ(Parse(Bytes(text)), Parse({text}));
}

TEST(RequestParser, WordsCountThoughTheyAreEmpty) {
  RequestParser parser;
  std::string text = "*65536\r\n";
  for (int i = 0; i < 1000; ++i) text += "$0\r\n\r\n";
  absl::string_view input = text;
  ASSERT_EQ(parser.Read(&input), State::kNeedsRoom);
  EXPECT_EQ(text.size() - input.size(), 8 + 256 * 6 + 4) << "the 257th word is one too many for the free bytes";
}

}  // namespace
}  // namespace tritond::server
