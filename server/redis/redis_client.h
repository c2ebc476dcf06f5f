// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REDIS_CLIENT_H_
#define SERVER_REDIS_REDIS_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/admission/access.h"
#include "server/admission/byte_budget.h"
#include "server/redis/redis_metrics.h"
#include "server/redis/reply_writer.h"
#include "server/redis/request_parser.h"
#include "server/redis/value_store.h"

namespace tritond::server {

// What the clients of a server share. Outlives them.
struct RedisParts {
  ValueStore& values;
  const AccessPolicy& access;
  RedisMetrics& metrics;
  ByteBudget& budget;      // of the requests and answers that are under way
  uint64_t request_bytes;  // most of one request
  std::string version;     // of the daemon
};

// What a client is to be sent, and the memory of it.
struct RedisAnswer {
  ReplyWriter out;
  std::vector<ByteBudget::Hold> holds;
};

// One client: who it is, and what its commands do. Knows no socket. Used by one thread at a time.
class RedisClient final {
 public:
  // An answer of so many bytes is sent before more is added to it.
  static constexpr uint64_t kFlushBytes = RequestParser::kFreeBytes;

  enum class Progress {
    kDone,
    kMore,    // the answer so far is to be sent, then Run goes on with the same request
    kNoRoom,  // the same, once there is room in the budget for what comes next
  };

  // `credentials`: what the connection shows by itself.
  RedisClient(const RedisParts& parts, uint64_t id, Credentials credentials)
      : parts_(parts), id_(id), credentials_(std::move(credentials)) {}

  // Of a certificate that TLS has verified.
  void SetCommonNames(std::vector<std::string> names) { credentials_.common_names = std::move(names); }

  // The commands that there are, as the metrics name them.
  static std::vector<std::string> CommandNames();
  // Whether running the request may wait for a disk.
  static bool MayBlock(const RedisRequest& request);

  // Runs the request, which may be used up; errors are answers. `without_room`: what finds no room in the budget fails,
  // or counts as absent.
  Progress Run(RedisRequest& request, bool without_room, RedisAnswer* answer);
  // The connection is to end after the answers so far.
  bool ends() const { return ends_; }
  // How large a request may be: without a role, RequestParser::kFreeBytes.
  uint64_t RequestLimit() const;

 private:
  using Words = std::vector<std::string>;
  struct Command;

  static absl::Span<const Command> Commands();
  static size_t IndexOf(const RedisRequest& request);
  Progress Dispatch(size_t command, RedisRequest& request, RedisAnswer* answer);

  absl::StatusOr<Caller> Identify(const Credentials& credentials) const;
  bool IsAllowed(Need need, RedisAnswer* answer);
  bool TakeToken(const std::string& token, RedisAnswer* answer);
  Progress Fail(absl::string_view text, RedisAnswer* answer);
  Progress Deny(absl::string_view text, RedisAnswer* answer);
  Progress AnswerValue(const std::string& key, bool alone, RedisAnswer* answer);
  Progress StoreValue(Words& words, size_t value, absl::Duration lifetime, ValueStore::Condition condition,
                      RedisAnswer* answer);
  template <typename Verb>
  Progress CountKeys(const Words& words, RedisAnswer* answer, Verb verb);

  Progress Auth(Words& words, RedisAnswer* answer);
  Progress Client(Words& words, RedisAnswer* answer);
  Progress ListCommands(Words& words, RedisAnswer* answer);
  Progress Del(Words& words, RedisAnswer* answer);
  Progress Exists(Words& words, RedisAnswer* answer);
  Progress Get(Words& words, RedisAnswer* answer);
  Progress Hello(Words& words, RedisAnswer* answer);
  Progress Info(Words& words, RedisAnswer* answer);
  Progress Mget(Words& words, RedisAnswer* answer);
  Progress Ping(Words& words, RedisAnswer* answer);
  Progress Quit(Words& words, RedisAnswer* answer);
  Progress Select(Words& words, RedisAnswer* answer);
  Progress Set(Words& words, RedisAnswer* answer);
  Progress Setex(Words& words, RedisAnswer* answer);

  const RedisParts& parts_;
  const uint64_t id_;
  Credentials credentials_;
  bool ends_ = false;
  // Of the request that is being run.
  bool without_room_ = false;
  RedisMetrics::Result result_ = RedisMetrics::Result::kOk;
  Caller caller_;
  size_t next_ = 0;    // the next word of one that takes several runs; 0: it has not begun
  int64_t count_ = 0;  // what it has counted so far
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REDIS_CLIENT_H_
