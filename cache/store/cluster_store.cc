// SPDX-License-Identifier: Apache-2.0
// The first byte of an entry tells its kind. After 'v' comes the value. After 'c' comes its size in decimal, and the
// value lies in chunks.
#include "cache/store/cluster_store.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tritond::cache {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr char kPrefix[] = "tritond:{";
constexpr size_t kDeletedAtOnce = 100;  // so that the engine's other callers wait for no more than these
constexpr uint64_t kLargestBytes = uint64_t{4} << 30;
constexpr uint64_t kLargestReserve = uint64_t{64} << 20;

absl::string_view TextOf(const redisReply& reply) { return {reply.str, reply.len}; }

// What follows the entry's name: ":0" in the name of a chunk.
std::optional<absl::string_view> AfterName(absl::string_view name, absl::string_view keyspace) {
  if (!absl::ConsumePrefix(&name, kPrefix) || name.size() < 2 * Digest::kSizeBytes) return std::nullopt;
  name.remove_prefix(2 * Digest::kSizeBytes);
  if (!absl::ConsumePrefix(&name, "}:") || !absl::ConsumePrefix(&name, keyspace)) return std::nullopt;
  return name;
}

bool IsChunkOrError(absl::string_view after_name) {
  uint64_t index = 0;
  return absl::ConsumePrefix(&after_name, ":") && (after_name == "error" || absl::SimpleAtoi(after_name, &index));
}

}  // namespace

ClusterStore::ClusterStore(std::shared_ptr<RedisCluster> cluster, std::string keyspace, absl::Duration lifetime)
    : cluster_(std::move(cluster)),
      keyspace_(std::move(keyspace)),
      lifetime_ms_(absl::StrCat(std::max<int64_t>(absl::ToInt64Milliseconds(lifetime), 1))) {}

std::string ClusterStore::NameOf(const Digest& key) const {
  return absl::StrCat(kPrefix, key.ToHex(), "}:", keyspace_);
}

std::string ClusterStore::ChunkName(const std::string& name, uint64_t index) { return absl::StrCat(name, ":", index); }

absl::Status ClusterStore::Set(const std::string& name, absl::string_view value) {
  return cluster_->Call(name, {"SET", name, value, "PX", lifetime_ms_}).status();
}

absl::Status ClusterStore::Put(const Digest& key, Blob value) {
  const std::string name = NameOf(key);
  if (value.size() <= kChunkBytes) return Set(name, absl::StrCat("v", value.bytes()));
  for (size_t at = 0; at < value.size(); at += kChunkBytes) {
    absl::Status status = Set(ChunkName(name, at / kChunkBytes), value.Slice(at, kChunkBytes).bytes());
    if (!status.ok()) return status;
  }
  return Set(name, absl::StrCat("c", value.size()));
}

absl::StatusOr<Blob> ClusterStore::GetChunks(const std::string& name, absl::string_view head) {
  uint64_t size = 0;
  if (!absl::SimpleAtoi(head, &size) || size > kLargestBytes)
    return absl::DataLossError(absl::StrCat("redis: ", name, " is no entry"));
  std::string value;
  value.reserve(std::min<uint64_t>(size, kLargestReserve));  // The size is the engine's word.
  for (uint64_t index = 0; value.size() < size; ++index) {
    const std::string chunk = ChunkName(name, index);
    absl::StatusOr<RedisReply> reply = cluster_->Call(name, {"GET", chunk});
    if (!reply.ok()) return reply.status();
    if ((*reply)->type != REDIS_REPLY_STRING || (*reply)->len != std::min<uint64_t>(kChunkBytes, size - value.size()))
      return absl::DataLossError(absl::StrCat("redis: a chunk of ", name, " is missing"));
    absl::StrAppend(&value, TextOf(**reply));
  }
  return Blob(std::move(value));
}

absl::StatusOr<Blob> ClusterStore::Get(const Digest& key) {
  const std::string name = NameOf(key);
  absl::StatusOr<RedisReply> reply = cluster_->Call(name, {"GET", name});
  if (!reply.ok()) return reply.status();
  if ((*reply)->type == REDIS_REPLY_NIL) return absl::NotFoundError("not in the cluster");
  absl::string_view text = (*reply)->type == REDIS_REPLY_STRING ? TextOf(**reply) : "";
  if (absl::ConsumePrefix(&text, "v")) return Blob(std::string(text));
  if (absl::ConsumePrefix(&text, "c")) return GetChunks(name, text);
  return absl::DataLossError(absl::StrCat("redis: ", name, " is no entry"));
}

absl::StatusOr<std::vector<Digest>> ClusterStore::FindMissing(absl::Span<const Digest> keys) {
  std::vector<Digest> missing;
  for (const Digest& key : keys) {
    const std::string name = NameOf(key);
    absl::StatusOr<RedisReply> reply = cluster_->Call(name, {"EXISTS", name});
    if (!reply.ok()) return reply.status();
    if ((*reply)->integer == 0) missing.push_back(key);
  }
  return missing;
}

absl::Status ClusterStore::Remove(const Digest& key) {
  const std::string name = NameOf(key);
  absl::StatusOr<RedisReply> head = cluster_->Call(name, {"GETRANGE", name, "0", "32"});
  if (!head.ok()) return head.status();
  absl::string_view text = (*head)->type == REDIS_REPLY_STRING ? TextOf(**head) : "";
  absl::Status status = cluster_->Call(name, {"DEL", name}).status();
  uint64_t size = 0;
  if (!status.ok() || !absl::ConsumePrefix(&text, "c") || !absl::SimpleAtoi(text, &size)) return status;
  for (uint64_t index = 0; index * kChunkBytes < std::min(size, kLargestBytes); ++index)
    status.Update(cluster_->Call(name, {"DEL", ChunkName(name, index)}).status());
  return status;
}

absl::StatusOr<std::vector<Digest>> ClusterStore::List() {
  std::vector<Digest> keys;
  const std::string ending = absl::StrCat("}:", keyspace_);
  absl::Status status = cluster_->VisitKeys(absl::StrCat(kPrefix, "*", ending), [&](absl::string_view name) {
    if (!absl::ConsumePrefix(&name, kPrefix) || !absl::ConsumeSuffix(&name, ending)) return;
    absl::StatusOr<Digest> digest = Digest::FromHex(name);
    if (digest.ok()) keys.push_back(*digest);
  });
  if (!status.ok()) return status;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Everything is looked at, since Kvrocks knows no other globs than prefixes.
absl::StatusOr<uint64_t> ClusterStore::RemoveAll() {
  uint64_t removed = 0;
  absl::Status status;
  std::vector<std::string> entries, others;
  const auto remove = [&](std::vector<std::string>* names) -> uint64_t {
    const absl::StatusOr<uint64_t> there = cluster_->Delete(*names);
    status.Update(there.status());
    names->clear();
    return there.value_or(0);
  };
  absl::Status visited = cluster_->VisitKeys(absl::StrCat(kPrefix, "*"), [&](absl::string_view name) {
    const std::optional<absl::string_view> after = AfterName(name, keyspace_);
    if (!after.has_value() || !(after->empty() || IsChunkOrError(*after))) return;
    (after->empty() ? entries : others).emplace_back(name);
    if (entries.size() >= kDeletedAtOnce) removed += remove(&entries);
    if (others.size() >= kDeletedAtOnce) remove(&others);
  });
  removed += remove(&entries);
  remove(&others);
  visited.Update(status);
  if (!visited.ok()) return visited;
  return removed;
}

}  // namespace tritond::cache
