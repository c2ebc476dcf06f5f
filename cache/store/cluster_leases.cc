// SPDX-License-Identifier: Apache-2.0
// A lost answer makes the client send a script again, so each one gives the same when it runs twice. The owner of a
// lease is known by name, and a token is written once.
#include "cache/store/cluster_leases.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// How long a key's last token is remembered: far longer than any compile takes, so that tokens only grow.
constexpr char kFenceMs[] = "86400000";

// KEYS: value, error, lease, fence, what the owner was told, mark of those who follow.
// ARGV: owner, lifetime, take, ignore, fence's lifetime, follow.
constexpr char kAsk[] = R"(
if ARGV[4] == '0' then
  if redis.call('EXISTS', KEYS[1]) == 1 then return {'done', '', ''} end
  local failed = redis.call('GET', KEYS[2])
  if failed then return {'failed', '', failed} end
end
local told = redis.call('GET', KEYS[5])
if told then return {'failed', '', told} end
local held = redis.call('GET', KEYS[3])
if held then
  local space = string.find(held, ' ', 1, true)
  if ARGV[3] == '1' and string.sub(held, space + 1) == ARGV[1] then
    redis.call('PEXPIRE', KEYS[3], ARGV[2])
    return {'granted', string.sub(held, 1, space - 1), ''}
  end
  if ARGV[6] == '1' and redis.call('PTTL', KEYS[6]) < ARGV[2] * 1.5 then
    redis.call('SET', KEYS[6], '1', 'PX', ARGV[2] * 2)
  end
  return {'held', '', ''}
end
if ARGV[3] == '0' then return {'free', '', ''} end
local token = redis.call('HINCRBY', KEYS[4], 'granted', 1)
redis.call('PEXPIRE', KEYS[4], ARGV[5])
redis.call('SET', KEYS[3], token .. ' ' .. ARGV[1], 'PX', ARGV[2])
return {'granted', tostring(token), ''}
)";

// ARGV: token, owner, lifetime. A lease that ran out is its owner's again while nobody else has had it. Gives whether
// it is, and whether somebody follows.
constexpr char kRenew[] = R"(
local mine = ARGV[1] .. ' ' .. ARGV[2]
local held = redis.call('GET', KEYS[3])
if held == mine then
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
else
  if held or redis.call('HGET', KEYS[4], 'granted') ~= ARGV[1] then return {0, 0} end
  redis.call('SET', KEYS[3], mine, 'PX', ARGV[3])
end
return {1, redis.call('EXISTS', KEYS[6])}
)";

// ARGV: token, owner.
constexpr char kRelease[] = R"(
if redis.call('GET', KEYS[3]) == ARGV[1] .. ' ' .. ARGV[2] then redis.call('DEL', KEYS[3]) end
return 1
)";

// ARGV: token, owner, value, lifetime, fence's lifetime.
constexpr char kPublish[] = R"(
if redis.call('GET', KEYS[3]) == ARGV[1] .. ' ' .. ARGV[2] then redis.call('DEL', KEYS[3]) end
if redis.call('EXISTS', KEYS[1]) == 1 then
  if ARGV[1] == '0' then return 0 end
  if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[4], 'written') or '0') then return 0 end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
redis.call('DEL', KEYS[2])
if ARGV[1] ~= '0' then
  redis.call('HSET', KEYS[4], 'written', ARGV[1])
  redis.call('PEXPIRE', KEYS[4], ARGV[5])
end
return 1
)";

// The same arguments.
constexpr char kPublishError[] = R"(
if redis.call('GET', KEYS[3]) == ARGV[1] .. ' ' .. ARGV[2] then redis.call('DEL', KEYS[3]) end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then
  if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[4], 'written') or '0') then return 0 end
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
if ARGV[1] ~= '0' then
  redis.call('HSET', KEYS[4], 'written', ARGV[1])
  redis.call('PEXPIRE', KEYS[4], ARGV[5])
end
return 1
)";

absl::string_view TextOf(const redisReply& reply) { return {reply.str, reply.len}; }

std::string Milliseconds(absl::Duration duration) {
  return absl::StrCat(std::max<int64_t>(absl::ToInt64Milliseconds(duration), 1));
}

}  // namespace

ClusterLeases::ClusterLeases(std::shared_ptr<RedisCluster> cluster, std::string keyspace, absl::Duration lifetime,
                             Seal seal)
    : cluster_(std::move(cluster)),
      keyspace_(std::move(keyspace)),
      lifetime_ms_(Milliseconds(lifetime)),
      seal_(std::move(seal)) {}

std::string ClusterLeases::NameOf(const Digest& key) const {
  return absl::StrCat("tritond:{", key.ToHex(), "}:", keyspace_);
}

absl::StatusOr<RedisReply> ClusterLeases::Run(absl::string_view script, const Digest& key, absl::string_view owner,
                                              absl::Span<const absl::string_view> arguments) {
  const std::string name = NameOf(key);
  const std::string error = absl::StrCat(name, ":error"), lease = absl::StrCat(name, ":lease"),
                    fence = absl::StrCat(name, ":fence"), told = absl::StrCat(name, ":told:", owner),
                    wanted = absl::StrCat(name, ":wanted");
  std::vector<absl::string_view> command = {"EVAL", script, "6", name, error, lease, fence, told, wanted};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return cluster_->Call(name, command);
}

absl::StatusOr<bool> ClusterLeases::RunForTruth(absl::string_view script, const KeyLease& lease,
                                                absl::Span<const absl::string_view> arguments) {
  absl::StatusOr<RedisReply> reply = Run(script, lease.key, lease.owner, arguments);
  if (!reply.ok()) return reply.status();
  if ((*reply)->type != REDIS_REPLY_INTEGER) return absl::InternalError("redis: a script gave something strange");
  return (*reply)->integer == 1;
}

absl::StatusOr<KeyLeaseTable::Answer> ClusterLeases::Ask(const Digest& key, const std::string& owner,
                                                         absl::Duration lifetime, const Wish& wish) {
  absl::StatusOr<RedisReply> reply =
      Run(kAsk, key, owner,
          {owner, Milliseconds(lifetime), wish.take ? "1" : "0", wish.ignore_outcome ? "1" : "0",
           absl::string_view(kFenceMs), wish.follow ? "1" : "0"});
  if (!reply.ok()) return reply.status();
  const absl::Status strange = absl::InternalError("redis: the script of leases gave something strange");
  if ((*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements != 3) return strange;
  const absl::string_view state = TextOf(*(*reply)->element[0]);
  Answer answer;
  if (state == "done") {
    answer.state = State::kDone;
  } else if (state == "failed") {
    answer.state = State::kFailed;
    answer.error = std::string(TextOf(*(*reply)->element[2]));
  } else if (state == "held") {
    answer.state = State::kHeld;
  } else if (state == "free") {
    answer.state = State::kFree;
  } else {
    answer.state = State::kGranted;
    answer.lease = {key, owner, 0};
    if (state != "granted" || !absl::SimpleAtoi(TextOf(*(*reply)->element[1]), &answer.lease.token)) return strange;
  }
  return answer;
}

absl::StatusOr<KeyLeaseTable::Renewal> ClusterLeases::Renew(const KeyLease& lease, absl::Duration lifetime) {
  absl::StatusOr<RedisReply> reply =
      Run(kRenew, lease.key, lease.owner, {absl::StrCat(lease.token), lease.owner, Milliseconds(lifetime)});
  if (!reply.ok()) return reply.status();
  if ((*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements != 2)
    return absl::InternalError("redis: the script of leases gave something strange");
  return Renewal{(*reply)->element[0]->integer == 1, (*reply)->element[1]->integer == 1};
}

absl::Status ClusterLeases::Unfollow(const Digest& key) {
  const std::string name = NameOf(key);
  return cluster_->Call(name, {"DEL", absl::StrCat(name, ":wanted")}).status();
}

absl::Status ClusterLeases::Release(const KeyLease& lease) {
  return Run(kRelease, lease.key, lease.owner, {absl::StrCat(lease.token), lease.owner}).status();
}

absl::StatusOr<bool> ClusterLeases::Publish(const KeyLease& lease, Blob value) {
  const std::string stored = absl::StrCat("v", seal_(lease.key, value).bytes());
  return RunForTruth(kPublish, lease,
                     {absl::StrCat(lease.token), lease.owner, stored, lifetime_ms_, absl::string_view(kFenceMs)});
}

absl::StatusOr<bool> ClusterLeases::PublishError(const KeyLease& lease, const std::string& error,
                                                 absl::Duration lifetime) {
  return RunForTruth(
      kPublishError, lease,
      {absl::StrCat(lease.token), lease.owner, error, Milliseconds(lifetime), absl::string_view(kFenceMs)});
}

absl::Status ClusterLeases::Tell(const Digest& key, const std::string& owner, const std::string& error,
                                 absl::Duration lifetime) {
  const std::string name = NameOf(key);
  return cluster_->Call(name, {"SET", absl::StrCat(name, ":told:", owner), error, "PX", Milliseconds(lifetime)})
      .status();
}

absl::Status ClusterLeases::ForgetError(const Digest& key) {
  const std::string name = NameOf(key);
  return cluster_->Call(name, {"DEL", absl::StrCat(name, ":error")}).status();
}

}  // namespace tritond::cache
