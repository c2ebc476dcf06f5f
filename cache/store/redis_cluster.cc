// SPDX-License-Identifier: Apache-2.0
// Who has which slot is only ever a guess. A node that does not have it (any more) says who does, MOVED for good and
// ASK for this once while a slot migrates. A broken connection makes us ask for all slots again, since a replica may
// have taken over.
#include "cache/store/redis_cluster.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "cache/store/redis_errors.h"

namespace tritond::cache {
namespace {

constexpr int kMaxHops = 6;
constexpr absl::Duration kTryAgain = absl::Milliseconds(20);
constexpr char kScanCount[] = "1000";
constexpr size_t kMaxIdle = 8;  // connections kept for each node

absl::StatusOr<std::pair<std::string, int>> SplitAddress(const std::string& node) {
  const size_t colon = node.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(node.substr(colon + 1), &port) || port <= 0 || port > 65535)
    return absl::InvalidArgumentError(absl::StrCat("\"", node, "\" is no HOST:PORT"));
  std::string host = node.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host.empty()) return absl::InvalidArgumentError(absl::StrCat("\"", node, "\" is no HOST:PORT"));
  return std::make_pair(std::move(host), port);
}

absl::string_view TextOf(const redisReply& reply) { return {reply.str, reply.len}; }

// "MOVED 3999 host:port" and "ASK 3999 host:port". A host may be left out: then it is the node that answered.
std::string Redirection(absl::string_view error, const std::string& answered) {
  const std::vector<std::string> words = absl::StrSplit(error, ' ');
  if (words.size() < 3) return answered;
  if (!absl::StartsWith(words[2], ":")) return words[2];
  return absl::StrCat(answered.substr(0, answered.rfind(':')), words[2]);
}

absl::Status StateIn(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR ? RefusalIn(TextOf(reply)) : absl::OkStatus();
}

// The same of the answer to CLUSTER SLOTS. An engine without cluster mode does not know the command.
absl::Status SlotsIn(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) {
    const absl::string_view text = TextOf(reply);
    const bool alone = absl::StartsWith(text, "ERR ") && !absl::StartsWith(text, "ERR max number of clients");
    return alone ? absl::OkStatus() : RefusalIn(text);
  }
  if (reply.type != REDIS_REPLY_ARRAY) return absl::FailedPreconditionError("it does not speak as a Redis node does");
  if (reply.elements == 0) return absl::FailedPreconditionError("it serves no hash slots: its cluster is not set up");
  return absl::OkStatus();
}

absl::Duration SteadyTime() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

absl::Status RedisCluster::CheckAddress(const std::string& node) { return SplitAddress(node).status(); }

RedisCluster::RedisCluster(RedisOptions options) : options_(std::move(options)) {}
RedisCluster::~RedisCluster() = default;

absl::StatusOr<RedisCluster::Connection> RedisCluster::Dial(const std::string& node) const {
  absl::StatusOr<std::pair<std::string, int>> address = SplitAddress(node);
  if (!address.ok()) return address.status();
  absl::StatusOr<Connection> connection = RedisConnection::Dial(node, address->first, address->second, options_.tls,
                                                                options_.connect_timeout, options_.call_timeout);
  if (!connection.ok() || options_.password.empty()) return connection;
  Command auth = {"AUTH"};
  if (!options_.user.empty()) auth.push_back(options_.user);
  auth.push_back(options_.password);
  const absl::StatusOr<std::vector<RedisReply>> replies = (*connection)->Exchange({auth});
  if (!replies.ok()) return replies.status();
  const RedisReply& reply = replies->front();
  if (reply->type == REDIS_REPLY_ERROR) return LoginRefusalIn(TextOf(*reply));
  return connection;
}

absl::StatusOr<RedisCluster::Connection> RedisCluster::Take(const std::string& node) {
  {
    absl::MutexLock lock(&mu_);
    auto idle = idle_.find(node);
    if (idle != idle_.end() && !idle->second.empty()) {
      Connection connection = std::move(idle->second.back());
      idle->second.pop_back();
      return connection;
    }
  }
  return Dial(node);
}

void RedisCluster::GiveBack(const std::string& node, Connection connection) {
  absl::MutexLock lock(&mu_);
  std::vector<Connection>& idle = idle_[node];
  if (idle.size() < kMaxIdle) idle.push_back(std::move(connection));
}

std::shared_ptr<NodeHealth> RedisCluster::HealthOf(const std::string& node) {
  absl::MutexLock lock(&mu_);
  std::shared_ptr<NodeHealth>& health = health_[node];
  if (health == nullptr)
    health = std::make_shared<NodeHealth>(node, options_.breaker, SteadyTime, options_.remember_refusals);
  return health;
}

absl::StatusOr<std::vector<RedisReply>> RedisCluster::CallNode(const std::string& node,
                                                               absl::Span<const Command> commands, Judge judge) {
  absl::StatusOr<std::vector<RedisReply>> replies = absl::UnavailableError("");
  bool called = false;
  const absl::Status state = HealthOf(node)->Guard(
      commands.back()[0],
      [&] {
        replies = Exchange(node, commands);
        return replies.ok() ? judge(*replies->back()) : replies.status();
      },
      &called);
  if (!called) return state;
  return replies;
}

absl::StatusOr<RedisReply> RedisCluster::CallNode(const std::string& node, bool asking,
                                                  absl::Span<const absl::string_view> command, Judge judge) {
  std::vector<Command> commands;
  if (asking) commands.push_back({"ASKING"});
  commands.emplace_back(command.begin(), command.end());
  absl::StatusOr<std::vector<RedisReply>> replies = CallNode(node, commands, judge);
  if (!replies.ok()) return replies.status();
  return std::move(replies->back());
}

absl::StatusOr<std::vector<RedisReply>> RedisCluster::Exchange(const std::string& node,
                                                               absl::Span<const Command> commands) {
  absl::StatusOr<Connection> connection = Take(node);
  if (!connection.ok()) return connection.status();
  absl::StatusOr<std::vector<RedisReply>> replies = (*connection)->Exchange(commands);
  if (!replies.ok()) {
    absl::MutexLock lock(&mu_);
    idle_.erase(node);  // What else is open to this node is no better.
    return replies;
  }
  GiveBack(node, *std::move(connection));
  return replies;
}

void RedisCluster::Learn(int slot, const std::string& node) {
  absl::MutexLock lock(&mu_);
  if (!slots_.empty()) slots_[slot] = node;
}

// An engine without cluster mode says so, and has everything.
absl::Status RedisCluster::LearnSlots() {
  std::vector<std::string> nodes = options_.nodes;
  {
    absl::MutexLock lock(&mu_);
    nodes.insert(nodes.end(), slots_.begin(), slots_.end());
  }
  std::set<std::string> asked;
  absl::Status last = absl::UnavailableError("redis: no node is named");
  for (const std::string& node : nodes) {
    if (node.empty() || !asked.insert(node).second) continue;
    absl::StatusOr<RedisReply> reply = CallNode(node, false, {"CLUSTER", "SLOTS"}, SlotsIn);
    const absl::Status judged = reply.ok() ? SlotsIn(**reply) : reply.status();
    if (!judged.ok()) {
      last = absl::Status(judged.code(), absl::StrCat("redis ", node, ": ", judged.message()));
      continue;
    }
    std::vector<std::string> slots(kRedisSlots);
    if ((*reply)->type == REDIS_REPLY_ERROR) std::fill(slots.begin(), slots.end(), node);
    for (size_t i = 0; (*reply)->type == REDIS_REPLY_ARRAY && i < (*reply)->elements; ++i) {
      const redisReply& range = *(*reply)->element[i];
      if (range.type != REDIS_REPLY_ARRAY || range.elements < 3 || range.element[2]->elements < 2) continue;
      const redisReply& master = *range.element[2];
      const std::string host =
          master.element[0]->len > 0 ? std::string(TextOf(*master.element[0])) : node.substr(0, node.rfind(':'));
      const int64_t first = std::max<int64_t>(range.element[0]->integer, 0);
      const int64_t end = std::min<int64_t>(range.element[1]->integer + 1, kRedisSlots);
      for (int64_t slot = first; slot < end; ++slot) slots[slot] = absl::StrCat(host, ":", master.element[1]->integer);
    }
    absl::MutexLock lock(&mu_);
    slots_ = std::move(slots);
    ForgetStrangersLocked();
    return absl::OkStatus();
  }
  return last;
}

void RedisCluster::ForgetStrangersLocked() {
  std::set<std::string> known(slots_.begin(), slots_.end());
  known.insert(options_.nodes.begin(), options_.nodes.end());
  for (auto it = health_.begin(); it != health_.end();)
    it = known.count(it->first) > 0 ? std::next(it) : health_.erase(it);
}

bool RedisCluster::MayRelearn(const std::string& node) {
  if (HealthOf(node)->answers()) return true;
  absl::MutexLock lock(&mu_);
  const absl::Duration now = SteadyTime();
  if (now < relearn_at_) return false;
  relearn_at_ = now + options_.relearn;
  return true;
}

std::vector<EngineNode> RedisCluster::Nodes() const {
  std::map<std::string, int> slots;
  std::vector<EngineNode> nodes;
  absl::MutexLock lock(&mu_);
  auto last = slots.end();
  for (const std::string& node : slots_) {  // Neighbours mostly have the same.
    if (last == slots.end() || last->first != node) last = slots.try_emplace(node, 0).first;
    ++last->second;
  }
  slots.erase("");
  if (slots.empty()) {
    for (const std::string& node : options_.nodes) slots[node] = 0;
  }
  for (const auto& [address, count] : slots) {
    const auto health = health_.find(address);
    EngineNode& node = nodes.emplace_back(health == health_.end() ? EngineNode() : health->second->Figures());
    node.address = address;
    node.slots = count;
  }
  return nodes;
}

absl::StatusOr<std::string> RedisCluster::NodeOf(int slot) {
  {
    absl::MutexLock lock(&mu_);
    if (!slots_.empty() && !slots_[slot].empty()) return slots_[slot];
  }
  absl::Status learnt = LearnSlots();
  if (!learnt.ok()) return learnt;
  absl::MutexLock lock(&mu_);
  if (slots_[slot].empty()) return absl::UnavailableError(absl::StrCat("redis: no node serves slot ", slot));
  return slots_[slot];
}

absl::StatusOr<RedisReply> RedisCluster::Call(absl::string_view key, absl::Span<const absl::string_view> command) {
  const int slot = RedisSlot(key);
  absl::Status last;
  absl::StatusOr<std::string> node = NodeOf(slot);
  bool asking = false, redialled = false;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    if (!node.ok()) return node.status();
    absl::StatusOr<RedisReply> reply = CallNode(*node, asking, command, StateIn);
    if (!reply.ok()) {
      if (std::exchange(redialled, true) || !MayRelearn(*node)) return reply.status();
      last = reply.status();
      absl::Status learnt = LearnSlots();
      if (!learnt.ok()) return learnt;
      node = NodeOf(slot);
      asking = false;
      continue;
    }
    if ((*reply)->type != REDIS_REPLY_ERROR) return reply;
    const absl::string_view error = TextOf(**reply);
    last = ErrorIn(error);
    asking = absl::StartsWith(error, "ASK ");
    if (asking || absl::StartsWith(error, "MOVED ")) {
      node = Redirection(error, *node);
      if (!asking) Learn(slot, *node);
    } else if (absl::StartsWith(error, "TRYAGAIN")) {
      absl::SleepFor(kTryAgain);
    } else {
      return absl::Status(last.code(), absl::StrCat("redis ", *node, ": ", last.message()));
    }
  }
  return absl::UnavailableError(absl::StrCat("redis: gives up after ", kMaxHops, " attempts: ", last.message()));
}

absl::StatusOr<uint64_t> RedisCluster::DeleteAt(const std::string& node, absl::Span<const absl::string_view> keys) {
  std::vector<Command> commands;
  for (absl::string_view key : keys) commands.push_back({"DEL", key});
  const absl::StatusOr<std::vector<RedisReply>> replies = CallNode(node, commands, StateIn);
  if (!replies.ok()) return replies.status();
  uint64_t deleted = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    int64_t count = (*replies)[i]->integer;
    if ((*replies)[i]->type == REDIS_REPLY_ERROR) {  // A slot has moved, perhaps.
      const absl::StatusOr<RedisReply> again = Call(keys[i], commands[i]);
      if (!again.ok()) return again.status();
      count = (*again)->integer;
    }
    deleted += count > 0 ? 1 : 0;
  }
  return deleted;
}

absl::StatusOr<uint64_t> RedisCluster::Delete(absl::Span<const std::string> keys) {
  std::map<std::string, std::vector<absl::string_view>> by_node;
  for (const std::string& key : keys) {
    const absl::StatusOr<std::string> node = NodeOf(RedisSlot(key));
    if (!node.ok()) return node.status();
    by_node[*node].push_back(key);
  }
  uint64_t deleted = 0;
  absl::Status status;
  for (const auto& [node, its] : by_node) {
    const absl::StatusOr<uint64_t> there = DeleteAt(node, its);
    status.Update(there.status());
    deleted += there.value_or(0);
  }
  if (!status.ok()) return status;
  return deleted;
}

absl::Status RedisCluster::VisitKeysOf(const std::string& node, absl::string_view pattern,
                                       const std::function<void(absl::string_view key)>& visit) {
  std::string cursor = "0";
  do {
    absl::StatusOr<RedisReply> reply =
        CallNode(node, false, {"SCAN", cursor, "MATCH", pattern, "COUNT", kScanCount}, StateIn);
    if (!reply.ok()) return reply.status();
    if ((*reply)->type == REDIS_REPLY_ERROR) return ErrorIn(TextOf(**reply));
    if ((*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements != 2)
      return absl::InternalError(absl::StrCat("redis ", node, ": a scan gave something strange"));
    cursor = std::string(TextOf(*(*reply)->element[0]));
    const redisReply& keys = *(*reply)->element[1];
    for (size_t i = 0; i < keys.elements; ++i) visit(TextOf(*keys.element[i]));
  } while (cursor != "0");
  return absl::OkStatus();
}

absl::Status RedisCluster::VisitKeys(absl::string_view pattern,
                                     const std::function<void(absl::string_view key)>& visit) {
  absl::Status status = LearnSlots();
  if (!status.ok()) return status;
  std::set<std::string> nodes;
  {
    absl::MutexLock lock(&mu_);
    nodes.insert(slots_.begin(), slots_.end());
  }
  nodes.erase("");
  for (const std::string& node : nodes) status.Update(VisitKeysOf(node, pattern, visit));
  return status;
}

}  // namespace tritond::cache
