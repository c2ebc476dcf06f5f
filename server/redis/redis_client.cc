// SPDX-License-Identifier: Apache-2.0
#include "server/redis/redis_client.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tritond::server {
namespace {

// The release of Redis whose protocol this is, for clients that go by it.
constexpr char kRedisVersion[] = "7.0.0";
// A command on many keys makes way for other clients after so many.
constexpr int kMostKeysAtOnce = 256;

}  // namespace

struct RedisClient::Command {
  const char* name;
  int arity;                 // words, the name included; negative: at least so many
  std::optional<Need> need;  // nothing: for everybody
  bool may_block;
  int first_key, last_key;  // as words; 0: none; -1: the last word
  Progress (RedisClient::*run)(Words& words, RedisAnswer* answer);
};

absl::Span<const RedisClient::Command> RedisClient::Commands() {
  static constexpr Command kCommands[] = {
      {"auth", -2, std::nullopt, false, 0, 0, &RedisClient::Auth},
      {"client", -2, Need::kRead, false, 0, 0, &RedisClient::Client},
      {"command", -1, Need::kRead, false, 0, 0, &RedisClient::ListCommands},
      {"del", -2, Need::kPrebuild, true, 1, -1, &RedisClient::Del},
      {"exists", -2, Need::kRead, true, 1, -1, &RedisClient::Exists},
      {"get", 2, Need::kRead, true, 1, 1, &RedisClient::Get},
      {"hello", -1, std::nullopt, false, 0, 0, &RedisClient::Hello},
      {"info", -1, Need::kRead, false, 0, 0, &RedisClient::Info},
      {"mget", -2, Need::kRead, true, 1, -1, &RedisClient::Mget},
      {"ping", -1, Need::kRead, false, 0, 0, &RedisClient::Ping},
      {"quit", -1, std::nullopt, false, 0, 0, &RedisClient::Quit},
      {"select", 2, Need::kRead, false, 0, 0, &RedisClient::Select},
      {"set", -3, Need::kPrebuild, true, 1, 1, &RedisClient::Set},
      {"setex", 4, Need::kPrebuild, true, 1, 1, &RedisClient::Setex},
  };
  return kCommands;
}

std::vector<std::string> RedisClient::CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  return names;
}

size_t RedisClient::IndexOf(const RedisRequest& request) {
  const absl::Span<const Command> commands = Commands();
  size_t i = 0;
  while (i < commands.size() && (request.words.empty() || !absl::EqualsIgnoreCase(request.words[0], commands[i].name)))
    ++i;
  return i;
}

bool RedisClient::MayBlock(const RedisRequest& request) {
  const size_t command = IndexOf(request);
  return command < Commands().size() && Commands()[command].may_block;
}

RedisClient::Progress RedisClient::Run(RedisRequest& request, bool without_room, RedisAnswer* answer) {
  const size_t command = IndexOf(request);
  result_ = RedisMetrics::Result::kOk;
  without_room_ = without_room;
  const Progress progress = Dispatch(command, request, answer);
  if (progress != Progress::kDone) return progress;
  parts_.metrics.Count(command, result_);
  next_ = 0;
  count_ = 0;
  return progress;
}

RedisClient::Progress RedisClient::Dispatch(size_t index, RedisRequest& request, RedisAnswer* answer) {
  Words& words = request.words;
  if (words.empty()) {  // It was read past.
    if (!IsAllowed(Need::kRead, answer)) return Progress::kDone;
    if (request.kind == RedisRequest::Kind::kNoRoom)
      return Fail("ERR there is no memory for this request now: try again", answer);
    return Fail(absl::StrCat("ERR the request is larger than ", parts_.request_bytes,
                             " bytes, the most that this server takes (--redis-max-request-mb)"),
                answer);
  }
  if (index == Commands().size()) {
    // What comes as a line may be no Redis protocol at all: a browser that is made to send HTTP here, say.
    ends_ = ends_ || request.kind == RedisRequest::Kind::kInline;
    return Fail(absl::StrCat("ERR unknown command '", words[0].substr(0, 128), "'"), answer);
  }
  const Command& command = Commands()[index];
  const int count = static_cast<int>(words.size());
  if (command.arity >= 0 ? count != command.arity : count < -command.arity)
    return Fail(absl::StrCat("ERR wrong number of arguments for '", command.name, "'"), answer);
  // Once some of the answer has been sent it goes on.
  if (next_ == 0 && command.need.has_value() && !IsAllowed(*command.need, answer)) return Progress::kDone;
  return (this->*command.run)(words, answer);
}

absl::StatusOr<Caller> RedisClient::Identify(const Credentials& credentials) const {
  if (std::optional<Caller> everyone = parts_.access.Everyone()) return *std::move(everyone);
  return parts_.access.Identify(credentials);
}

uint64_t RedisClient::RequestLimit() const {
  const absl::StatusOr<Caller> caller = Identify(credentials_);
  return caller.ok() && CheckAccess(*caller, Need::kRead).ok() ? parts_.request_bytes : RequestParser::kFreeBytes;
}

bool RedisClient::IsAllowed(Need need, RedisAnswer* answer) {
  absl::StatusOr<Caller> caller = Identify(credentials_);
  if (!caller.ok()) {
    Deny(absl::StrCat("NOAUTH Authentication required: ", caller.status().message()), answer);
    return false;
  }
  caller_ = *std::move(caller);
  const absl::Status allowed = CheckAccess(caller_, need);
  if (!allowed.ok()) Deny(absl::StrCat("NOPERM ", allowed.message()), answer);
  return allowed.ok();
}

RedisClient::Progress RedisClient::Fail(absl::string_view text, RedisAnswer* answer) {
  result_ = RedisMetrics::Result::kError;
  answer->out.Error(text);
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Deny(absl::string_view text, RedisAnswer* answer) {
  Fail(text, answer);
  result_ = RedisMetrics::Result::kDenied;
  return Progress::kDone;
}

bool RedisClient::TakeToken(const std::string& token, RedisAnswer* answer) {
  Credentials shown = credentials_;
  shown.token = token.empty() ? "-" : token;  // Nobody's, and not nothing.
  const absl::StatusOr<Caller> caller = Identify(shown);
  if (!caller.ok()) {
    Deny(absl::StrCat("WRONGPASS ", caller.status().message()), answer);
    return false;
  }
  credentials_ = std::move(shown);
  return true;
}

// AUTH [USER] TOKEN: whoever has the token is who the access rules say, whatever the name.
RedisClient::Progress RedisClient::Auth(Words& words, RedisAnswer* answer) {
  if (words.size() > 3) return Fail("ERR syntax error", answer);
  if (TakeToken(words.back(), answer)) answer->out.Simple("OK");
  return Progress::kDone;
}

// HELLO [PROTOCOL [AUTH USER TOKEN] [SETNAME NAME]]
RedisClient::Progress RedisClient::Hello(Words& words, RedisAnswer* answer) {
  if (words.size() > 1 && words[1] != "2" && words[1] != "3")
    return Fail("NOPROTO this server speaks protocols 2 and 3", answer);
  const std::string* token = nullptr;
  for (size_t i = 2; i < words.size(); ++i) {
    if (absl::EqualsIgnoreCase(words[i], "auth") && i + 2 < words.size()) {
      token = &words[i + 2];
      i += 2;
    } else if (absl::EqualsIgnoreCase(words[i], "setname") && i + 1 < words.size()) {
      ++i;
    } else {
      return Fail("ERR syntax error in HELLO", answer);
    }
  }
  if (token != nullptr && !TakeToken(*token, answer)) return Progress::kDone;
  if (absl::StatusOr<Caller> caller = Identify(credentials_); !caller.ok())
    return Deny(absl::StrCat("NOAUTH ", caller.status().message(), ": HELLO 3 AUTH default TOKEN"), answer);
  ReplyWriter& out = answer->out;
  if (words.size() > 1) out.set_protocol(words[1] == "3" ? 3 : 2);
  out.Map(7);
  out.Bulk("server");
  out.Bulk("tritond");
  out.Bulk("version");
  out.Bulk(kRedisVersion);
  out.Bulk("proto");
  out.Integer(out.protocol());
  out.Bulk("id");
  out.Integer(static_cast<int64_t>(id_));
  out.Bulk("mode");
  out.Bulk("standalone");
  out.Bulk("role");
  out.Bulk("master");
  out.Bulk("modules");
  out.Array(0);
  return Progress::kDone;
}

// Names and versions of client libraries are welcome, and not kept.
RedisClient::Progress RedisClient::Client(Words& words, RedisAnswer* answer) {
  const std::string subcommand = absl::AsciiStrToLower(words[1].substr(0, 128));
  if (subcommand == "id" && words.size() == 2) {
    answer->out.Integer(static_cast<int64_t>(id_));
  } else if ((subcommand == "setname" && words.size() == 3) || (subcommand == "setinfo" && words.size() == 4)) {
    answer->out.Simple("OK");
  } else {
    return Fail(absl::StrCat("ERR unknown subcommand or wrong number of arguments for 'client|", subcommand, "'"),
                answer);
  }
  return Progress::kDone;
}

RedisClient::Progress RedisClient::ListCommands(Words& words, RedisAnswer* answer) {
  ReplyWriter& out = answer->out;
  const absl::Span<const Command> commands = Commands();
  if (words.size() == 2 && absl::EqualsIgnoreCase(words[1], "count")) {
    out.Integer(static_cast<int64_t>(commands.size()));
    return Progress::kDone;
  }
  if (words.size() >= 2 && absl::EqualsIgnoreCase(words[1], "docs")) {
    out.Map(0);  // redis-cli asks for these when it starts.
    return Progress::kDone;
  }
  if (words.size() != 1) return Fail("ERR unknown subcommand of 'command'", answer);
  out.Array(commands.size());
  for (const Command& command : commands) {
    out.Array(6);
    out.Bulk(command.name);
    out.Integer(command.arity);
    out.Array(0);  // flags
    out.Integer(command.first_key);
    out.Integer(command.last_key);
    out.Integer(command.first_key == 0 ? 0 : 1);
  }
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Info(Words&, RedisAnswer* answer) {
  std::string text = absl::StrCat("# Server\r\nredis_version:", kRedisVersion, "\r\nredis_mode:standalone\r\n",
                                  "tritond_version:", parts_.version, "\r\n");
  if (TenantOf(caller_).empty()) {  // What all tenants have together is for those who see all of them.
    absl::StrAppend(&text,
                    "\r\n# Clients\r\nconnected_clients:", static_cast<int64_t>(parts_.metrics.connections.Value()),
                    "\r\n\r\n# Memory\r\nused_memory:", parts_.values.size_bytes(),
                    "\r\n\r\n# Stats\r\ntotal_commands_processed:", parts_.metrics.requests(),
                    "\r\n\r\n# Keyspace\r\ndb0:keys=", parts_.values.size(), ",expires=0,avg_ttl=0\r\n");
  }
  answer->out.Bulk(text);
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Ping(Words& words, RedisAnswer* answer) {
  if (words.size() > 2) return Fail("ERR wrong number of arguments for 'ping'", answer);
  if (words.size() == 2) {
    answer->out.Bulk(cache::Blob(std::move(words[1])));
  } else {
    answer->out.Simple("PONG");
  }
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Quit(Words&, RedisAnswer* answer) {
  ends_ = true;
  answer->out.Simple("OK");
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Select(Words& words, RedisAnswer* answer) {
  if (words[1] != "0") return Fail("ERR DB index is out of range: this server has database 0 alone", answer);
  answer->out.Simple("OK");
  return Progress::kDone;
}

// `alone`: not one of many, where what cannot be had counts as absent.
RedisClient::Progress RedisClient::AnswerValue(const std::string& key, bool alone, RedisAnswer* answer) {
  const cache::Digest digest = ValueStore::KeyOf(caller_.tenant, key);
  const absl::StatusOr<ValueStore::Entry> entry = parts_.values.Find(digest);
  std::optional<ByteBudget::Hold> hold;
  if (entry.ok() && entry->size_bytes > RequestParser::kFreeBytes) {
    hold = parts_.budget.Take(entry->size_bytes);
    if (!hold.has_value() && !without_room_) return Progress::kNoRoom;
    if (!hold.has_value() && alone) return Fail("ERR there is no memory for this answer now: try again", answer);
    if (!hold.has_value()) {
      answer->out.Null();
      return Progress::kDone;
    }
  }
  absl::StatusOr<cache::Blob> value = entry.ok() ? parts_.values.Get(digest) : entry.status();
  if (value.ok()) {
    answer->out.Bulk(*std::move(value));
    if (hold.has_value()) answer->holds.push_back(*std::move(hold));
  } else if (absl::IsNotFound(value.status()) || !alone) {
    if (alone) result_ = RedisMetrics::Result::kMiss;
    answer->out.Null();
  } else {
    return Fail(absl::StrCat("ERR ", value.status().message()), answer);
  }
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Get(Words& words, RedisAnswer* answer) {
  return AnswerValue(words[1], /*alone=*/true, answer);
}

RedisClient::Progress RedisClient::Mget(Words& words, RedisAnswer* answer) {
  if (next_ == 0) answer->out.Array(words.size() - 1);
  if (next_ == 0) next_ = 1;
  for (int steps = 0; next_ < words.size(); ++next_, ++steps) {
    if (steps == kMostKeysAtOnce || answer->out.size_bytes() >= kFlushBytes) return Progress::kMore;
    const Progress progress = AnswerValue(words[next_], /*alone=*/false, answer);
    if (progress != Progress::kDone) return progress;
  }
  return Progress::kDone;
}

// Answers for how many of the keys the verb, which may fail, is true.
template <typename Verb>
RedisClient::Progress RedisClient::CountKeys(const Words& words, RedisAnswer* answer, Verb verb) {
  if (next_ == 0) next_ = 1;
  for (int steps = 0; next_ < words.size(); ++next_, ++steps) {
    if (steps == kMostKeysAtOnce) return Progress::kMore;
    const absl::StatusOr<bool> counts = verb(ValueStore::KeyOf(caller_.tenant, words[next_]));
    if (!counts.ok()) return Fail(absl::StrCat("ERR ", counts.status().message()), answer);
    count_ += *counts ? 1 : 0;
  }
  answer->out.Integer(count_);
  return Progress::kDone;
}

RedisClient::Progress RedisClient::Del(Words& words, RedisAnswer* answer) {
  return CountKeys(words, answer, [this](const cache::Digest& key) { return parts_.values.Remove(key); });
}

RedisClient::Progress RedisClient::Exists(Words& words, RedisAnswer* answer) {
  return CountKeys(words, answer, [this](const cache::Digest& key) -> absl::StatusOr<bool> {
    const absl::StatusOr<ValueStore::Entry> entry = parts_.values.Find(key);
    if (entry.ok() || absl::IsNotFound(entry.status())) return entry.ok();
    return entry.status();
  });
}

RedisClient::Progress RedisClient::StoreValue(Words& words, size_t value, absl::Duration lifetime,
                                              ValueStore::Condition condition, RedisAnswer* answer) {
  const absl::StatusOr<bool> stored = parts_.values.Put(caller_.tenant, ValueStore::KeyOf(caller_.tenant, words[1]),
                                                        cache::Blob(std::move(words[value])), lifetime, condition);
  if (!stored.ok()) return Fail(absl::StrCat("ERR ", stored.status().message()), answer);
  if (*stored) {
    answer->out.Simple("OK");
  } else {
    answer->out.Null();
  }
  return Progress::kDone;
}

// SET KEY VALUE [EX SECONDS | PX MILLISECONDS] [NX | XX]
RedisClient::Progress RedisClient::Set(Words& words, RedisAnswer* answer) {
  absl::Duration lifetime = absl::InfiniteDuration();
  ValueStore::Condition condition = ValueStore::Condition::kAlways;
  for (size_t i = 3; i < words.size(); ++i) {
    const std::string option = absl::AsciiStrToLower(words[i].substr(0, 16));
    const bool is_seconds = option == "ex";
    if ((is_seconds || option == "px") && i + 1 < words.size() && lifetime == absl::InfiniteDuration()) {
      int64_t number = 0;
      if (!absl::SimpleAtoi(words[++i], &number) || number <= 0)
        return Fail("ERR invalid expire time in 'set': it must be a positive number", answer);
      lifetime = is_seconds ? absl::Seconds(number) : absl::Milliseconds(number);
    } else if ((option == "nx" || option == "xx") && condition == ValueStore::Condition::kAlways) {
      condition = option == "nx" ? ValueStore::Condition::kIfAbsent : ValueStore::Condition::kIfPresent;
    } else {
      return Fail("ERR syntax error: after the value SET takes EX, PX, NX and XX", answer);
    }
  }
  return StoreValue(words, 2, lifetime, condition, answer);
}

// SETEX KEY SECONDS VALUE
RedisClient::Progress RedisClient::Setex(Words& words, RedisAnswer* answer) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(words[2], &seconds) || seconds <= 0)
    return Fail("ERR invalid expire time in 'setex': it must be a positive number", answer);
  return StoreValue(words, 3, absl::Seconds(seconds), ValueStore::Condition::kAlways, answer);
}

}  // namespace tritond::server
