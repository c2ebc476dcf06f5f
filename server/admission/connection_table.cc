// SPDX-License-Identifier: Apache-2.0
#include "server/admission/connection_table.h"

#include <algorithm>

namespace tritond::server {
namespace {

// An eighth of the places is for connections that have made no call: enough for bursts of callers who arrive together.
constexpr size_t kSilentShare = 8;

}  // namespace

struct ConnectionTable::Peer {
  std::string name;
  size_t workers = 0;  // connections in no list
  std::list<Connection*> lists[kKinds];
};

struct ConnectionTable::Connection {
  Id id = 0;
  std::string name;
  Peer* peer = nullptr;
  std::optional<Kind> kind;  // nothing: a worker's
  std::list<Connection*>::iterator place;
  absl::Time used;
  double resets = 0;  // those that time has not made up for, at `last_reset`
  absl::Time last_reset = absl::InfinitePast();
};

ConnectionTable::ConnectionTable(size_t most, absl::Duration grace)
    : most_(std::max<size_t>(most, 2)), silent_places_(std::max<size_t>(most_ / kSilentShare, 1)), grace_(grace) {}

ConnectionTable::~ConnectionTable() = default;

void ConnectionTable::Enlist(Connection* connection, Kind kind) {
  Peer* peer = connection->peer;
  std::list<Connection*>& list = peer->lists[kind];
  if (!list.empty()) rankings_[kind].erase({list.size(), peer});
  connection->place = list.insert(list.end(), connection);
  connection->kind = kind;
  rankings_[kind].emplace(list.size(), peer);
  if (kind == kSilentKind) ++silent_count_;
}

void ConnectionTable::Delist(Connection* connection) {
  Peer* peer = connection->peer;
  if (!connection->kind.has_value()) {
    --peer->workers;
    return;
  }
  const Kind kind = *connection->kind;
  std::list<Connection*>& list = peer->lists[kind];
  rankings_[kind].erase({list.size(), peer});
  list.erase(connection->place);
  if (!list.empty()) rankings_[kind].emplace(list.size(), peer);
  if (kind == kSilentKind) --silent_count_;
}

ConnectionTable::Victim ConnectionTable::TakeFirst(Kind kind) {
  Connection* first = rankings_[kind].rbegin()->second->lists[kind].front();
  const Victim victim{first->id, kind == kSilentKind ? Reason::kSilent : Reason::kShare};
  Remove(first->id);
  return victim;
}

bool ConnectionTable::TooManyAdmitted() const { return by_id_.size() - silent_count_ > most_ - silent_places_; }

ConnectionTable::Id ConnectionTable::Add(std::string name, const std::string& peer, absl::Time now,
                                         std::optional<Victim>* victim) {
  // Silent connections may use places that nobody else does.
  victim->reset();
  if (by_id_.size() >= most_ && silent_count_ > 0) *victim = TakeFirst(kSilentKind);
  auto connection = std::make_unique<Connection>();
  connection->id = ++last_;
  connection->name = std::move(name);
  connection->used = now;
  std::unique_ptr<Peer>& found = peers_[peer];
  if (found == nullptr) {
    found = std::make_unique<Peer>();
    found->name = peer;
  }
  connection->peer = found.get();
  Enlist(connection.get(), kSilentKind);
  by_name_[connection->name] = connection.get();
  by_id_.emplace(last_, std::move(connection));
  return last_;
}

std::optional<ConnectionTable::Victim> ConnectionTable::Admit(absl::string_view name, bool worker, absl::Time now) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  Connection* connection = found->second;
  connection->used = now;
  if (!connection->kind.has_value()) return std::nullopt;  // a worker's
  const bool was_silent = *connection->kind == kSilentKind;
  Delist(connection);
  if (worker) {
    connection->kind.reset();
    ++connection->peer->workers;
  } else {
    Enlist(connection, kAdmittedKind);
  }
  if (!was_silent || !TooManyAdmitted()) return std::nullopt;
  if (rankings_[kAdmittedKind].empty()) {  // Workers have every place.
    const Victim itself{connection->id, Reason::kShare};
    Remove(itself.id);
    return itself;
  }
  // Between peers that have equally many, the one that has just come gives way.
  const size_t largest = rankings_[kAdmittedKind].rbegin()->first;
  if (worker || connection->peer->lists[kAdmittedKind].size() < largest) return TakeFirst(kAdmittedKind);
  const Connection& oldest = *connection->peer->lists[kAdmittedKind].front();
  const Id goes = now - oldest.used >= grace_ ? oldest.id : connection->id;
  Remove(goes);
  return Victim{goes, Reason::kShare};
}

std::optional<ConnectionTable::Victim> ConnectionTable::NoteReset(absl::string_view name, absl::Time now) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  Connection* connection = found->second;
  if (!connection->kind.has_value()) return std::nullopt;  // a worker's
  const double made_up_for = absl::ToDoubleSeconds(now - connection->last_reset) * kResetsPerSecond;
  connection->resets = std::max(connection->resets - made_up_for, 0.0) + 1;
  connection->last_reset = now;
  if (connection->resets <= kMostResets) return std::nullopt;
  const Victim victim{connection->id, Reason::kResets};
  Remove(victim.id);
  return victim;
}

void ConnectionTable::Remove(Id id) {
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  Connection* connection = found->second.get();
  Delist(connection);
  auto named = by_name_.find(connection->name);
  if (named != by_name_.end() && named->second == connection) by_name_.erase(named);
  Peer* peer = connection->peer;
  if (peer->workers == 0 && peer->lists[kSilentKind].empty() && peer->lists[kAdmittedKind].empty())
    peers_.erase(std::string(peer->name));
  by_id_.erase(found);
}

}  // namespace tritond::server
