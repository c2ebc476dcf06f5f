// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REQUEST_PARSER_H_
#define SERVER_REDIS_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tritond::server {

// What a client asks for: the name of a command and its arguments.
struct RedisRequest {
  enum class Kind {
    kArray,     // bulk strings in an array, as client libraries send it
    kInline,    // words on a line, as people type it
    kTooLarge,  // read past, because it is larger than its sender may send: no words
    kNoRoom,    // read past, because there was no memory for it: no words
  };
  Kind kind = Kind::kArray;
  std::vector<std::string> words;  // the name first
};

// Reads the requests of one connection, which RESP2 and RESP3 write in the same way. Takes any bytes, in any pieces,
// and looks at each of them a constant number of times. What it holds is bounded: at most kFreeBytes of a request
// without room that its owner has given. Not thread-safe.
class RequestParser final {
 public:
  static constexpr uint64_t kFreeBytes = 16 << 10;
  static constexpr uint64_t kWordBytes = 64;  // what a word counts besides its bytes
  static constexpr size_t kMostLineBytes = 16 << 10;
  static constexpr uint64_t kMostWords = 64 << 10;
  // Of a request that is read past. A larger one is malformed.
  static constexpr uint64_t kMostSkippedBytes = uint64_t{4} << 30;

  enum class State {
    kNeedsBytes,  // all input is read
    kNeedsRoom,   // GiveRoom or Skip comes next
    kRequest,     // Take comes next
    kMalformed,   // for good: what follows cannot be understood
  };

  // Reads on, and takes off the front of `input` what it has read.
  State Read(absl::string_view* input);
  RedisRequest Take();

  // With kNeedsRoom: the bytes of the request so far and of its next word, kWordBytes for each word included.
  uint64_t needed_bytes() const { return used_; }
  // The request may have `bytes` in all, at least needed_bytes().
  void GiveRoom(uint64_t bytes);
  // The request is read past, and then given out as `kind`.
  void Skip(RedisRequest::Kind kind);

  // With kMalformed: what is wrong.
  const std::string& problem() const { return problem_; }
  // Whether a part of a request has come.
  bool in_request() const { return step_ != Step::kFirstLine || !line_.empty(); }

  // Where the next bytes of a long word go, so that they need not be copied; empty: they come through Read. FillTail
  // says how many of them have come.
  absl::Span<char> Tail();
  void FillTail(size_t bytes);

 private:
  enum class Step { kFirstLine, kLength, kBytes, kEnd };

  bool ReadLine(absl::string_view* input);
  void BeginRequest();
  void SplitLine();
  void MeasureWord();
  void BeginWord();
  void ReadBytes(absl::string_view* input);
  void ReadEnd(absl::string_view* input);
  bool skips() const { return kind_ == RedisRequest::Kind::kTooLarge || kind_ == RedisRequest::Kind::kNoRoom; }
  void Fail(std::string problem) { problem_ = std::move(problem); }

  Step step_ = Step::kFirstLine;
  std::string line_;  // of the line that is being read
  std::string problem_;
  bool needs_room_ = false, done_ = false;
  // Of the request that is being read.
  RedisRequest::Kind kind_ = RedisRequest::Kind::kArray;
  std::vector<std::string> words_;
  uint64_t words_left_ = 0;
  uint64_t used_ = 0, room_ = kFreeBytes;
  uint64_t length_ = 0, left_ = 0;  // of the word that is being read, and of what is missing of it
  int end_ = 0;                     // of the two bytes after a word, how many have come
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REQUEST_PARSER_H_
