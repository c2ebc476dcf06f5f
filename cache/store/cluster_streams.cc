// SPDX-License-Identifier: Apache-2.0
// A consumer group starts at the stream's beginning, so offers that came before the first taker are not missed.
#include "cache/store/cluster_streams.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

constexpr char kGroup[] = "tritond";
constexpr char kMaxEntries[] = "1000";
constexpr char kStreamMs[] = "3600000";

// KEYS: streams, the most wanted first. ARGV: group, taker, the most entries. One command for several streams would
// take as many of each.
constexpr char kTake[] = R"(
local taken, left = {}, tonumber(ARGV[3])
for _, stream in ipairs(KEYS) do
  if left > 0 and redis.call('EXISTS', stream) == 1 then
    local command = {'XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', left, 'STREAMS', stream, '>'}
    local reply = redis.pcall(unpack(command))
    if type(reply) == 'table' and reply['err'] then
      if not string.find(reply['err'], 'NOGROUP', 1, true) then return reply end
      redis.call('XGROUP', 'CREATE', stream, ARGV[1], '0')
      reply = redis.call(unpack(command))
    end
    if reply then
      taken[#taken + 1] = reply[1]
      left = left - #reply[1][2]
    end
  end
end
return taken
)";

absl::string_view TextOf(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS ? absl::string_view(reply.str, reply.len)
                                                                              : absl::string_view();
}

std::string NameOf(const StreamName& stream) { return absl::StrCat("tritond:jobs:{", stream.group, "}:", stream.name); }

bool IsArray(const redisReply& reply, size_t least) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements >= least;
}

// Adds the entries of a reply; those that were removed meanwhile have no fields and are left out.
void ReadEntries(const redisReply& entries, const StreamName& stream, std::vector<StreamEntry>* out) {
  for (size_t i = 0; entries.type == REDIS_REPLY_ARRAY && i < entries.elements; ++i) {
    const redisReply& pair = *entries.element[i];
    if (!IsArray(pair, 2) || !IsArray(*pair.element[1], 1)) continue;
    StreamEntry entry;
    entry.id = std::string(TextOf(*pair.element[0]));
    entry.stream = stream;
    const redisReply& fields = *pair.element[1];
    for (size_t f = 0; f + 1 < fields.elements; f += 2) {
      const absl::string_view name = TextOf(*fields.element[f]), value = TextOf(*fields.element[f + 1]);
      int64_t remaining_ms = 0;
      if (name == "key") entry.key = std::string(value);
      if (name == "asker") entry.asker = std::string(value);
      if (name == "body") entry.body = std::string(value);
      if (name == "remaining_ms" && absl::SimpleAtoi(value, &remaining_ms))
        entry.remaining = absl::Milliseconds(remaining_ms);
    }
    out->push_back(std::move(entry));
  }
}

bool HasNoGroup(const absl::Status& status) { return absl::StrContains(status.message(), "NOGROUP"); }

}  // namespace

void ClusterStreams::Age(const std::string& name, std::vector<StreamEntry>* entries) {
  const auto ends = [](const StreamEntry& entry) { return entry.remaining != absl::InfiniteDuration(); };
  if (std::none_of(entries->begin(), entries->end(), ends)) return;
  // An id begins with the engine's time, in milliseconds, when it was added.
  const absl::StatusOr<RedisReply> reply = cluster_->Call(name, {"TIME"});
  int64_t now_s = 0;
  if (!reply.ok() || !IsArray(**reply, 2) || !absl::SimpleAtoi(TextOf(*(*reply)->element[0]), &now_s)) return;
  int64_t now_us = 0;
  if (!absl::SimpleAtoi(TextOf(*(*reply)->element[1]), &now_us)) return;
  for (StreamEntry& entry : *entries) {
    int64_t added_ms = 0;
    if (!absl::SimpleAtoi(absl::string_view(entry.id).substr(0, entry.id.find('-')), &added_ms)) continue;
    const absl::Duration age = absl::Seconds(now_s) + absl::Microseconds(now_us) - absl::Milliseconds(added_ms);
    entry.remaining -= std::max(age, absl::ZeroDuration());
  }
}

absl::StatusOr<std::string> ClusterStreams::Add(const StreamEntry& entry) {
  const std::string name = NameOf(entry.stream);
  std::vector<absl::string_view> command = {"XADD", name,      "MAXLEN", "~",         kMaxEntries, "*",
                                            "key",  entry.key, "asker",  entry.asker, "body",      entry.body};
  const std::string remaining_ms = absl::StrCat(absl::ToInt64Milliseconds(entry.remaining));
  if (entry.remaining != absl::InfiniteDuration()) {
    command.push_back("remaining_ms");
    command.push_back(remaining_ms);
  }
  absl::StatusOr<RedisReply> reply = cluster_->Call(name, command);
  if (!reply.ok()) return reply.status();
  std::string id(TextOf(**reply));
  // A stream that outlives its hour takes no harm.
  cluster_->Call(name, {"PEXPIRE", name, kStreamMs}).status().IgnoreError();
  return id;
}

absl::Status ClusterStreams::Remove(const StreamName& stream, const std::string& id) {
  const std::string name = NameOf(stream);
  absl::Status status = cluster_->Call(name, {"XACK", name, kGroup, id}).status();
  if (HasNoGroup(status)) status = absl::OkStatus();
  status.Update(cluster_->Call(name, {"XDEL", name, id}).status());
  return status;
}

absl::StatusOr<std::vector<StreamEntry>> ClusterStreams::Take(absl::Span<const StreamName> streams,
                                                              const std::string& taker, int count) {
  std::vector<StreamEntry> taken;
  if (streams.empty()) return taken;
  std::vector<std::string> names;
  for (const StreamName& stream : streams) names.push_back(NameOf(stream));
  const std::string number = absl::StrCat(names.size()), most = absl::StrCat(count);
  std::vector<absl::string_view> command = {"EVAL", kTake, number};
  command.insert(command.end(), names.begin(), names.end());
  command.insert(command.end(), {kGroup, taker, most});
  absl::StatusOr<RedisReply> reply = cluster_->Call(names[0], command);
  if (!reply.ok()) return reply.status();
  for (size_t i = 0; (*reply)->type == REDIS_REPLY_ARRAY && i < (*reply)->elements; ++i) {
    const redisReply& stream = *(*reply)->element[i];
    if (!IsArray(stream, 2)) continue;
    const auto name = std::find(names.begin(), names.end(), TextOf(*stream.element[0]));
    if (name != names.end()) ReadEntries(*stream.element[1], streams[name - names.begin()], &taken);
  }
  Age(names[0], &taken);
  return taken;
}

absl::StatusOr<std::vector<StreamEntry>> ClusterStreams::TakeOver(const StreamName& stream, const std::string& taker,
                                                                  absl::Duration idle, int count) {
  const std::string name = NameOf(stream);
  const std::string idle_ms = absl::StrCat(absl::ToInt64Milliseconds(idle)), most = absl::StrCat(count);
  absl::StatusOr<RedisReply> reply =
      cluster_->Call(name, {"XAUTOCLAIM", name, kGroup, taker, idle_ms, "0-0", "COUNT", most});
  std::vector<StreamEntry> taken;
  if (HasNoGroup(reply.status())) return taken;
  if (!reply.ok()) return reply.status();
  if (IsArray(**reply, 2)) ReadEntries(*(*reply)->element[1], stream, &taken);
  Age(name, &taken);
  return taken;
}

}  // namespace tritond::cache
