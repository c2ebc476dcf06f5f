// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_CONNECTION_TABLE_H_
#define SERVER_ADMISSION_CONNECTION_TABLE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tritond::server {

// Decides which connections stay open when there are more than a limit. A connection is *silent* until a call of it has
// been admitted. Silent connections have a few places of their own, so they never displace one that has been admitted,
// and always find a place. Of the peer that has most of them, the silent connection that has waited longest goes.
// Admitted connections share the rest by peer: the peer that has most of them loses the one that it has not used for
// longest. A worker's connection is never displaced.
// A connection may reset calls: a burst of kMostResets, and kResetsPerSecond in the long run. One that resets more
// goes. Pure bookkeeping: it closes nothing and reads no clock. Not thread-safe.
class ConnectionTable final {
 public:
  using Id = uint64_t;
  // Why a connection has to go.
  enum class Reason {
    kSilent,  // It has made no call, and another one needs its place.
    kShare,   // Its peer has more connections than any other peer, and there is no room.
    kResets,  // It has reset too many calls.
  };
  struct Victim {
    Id id = 0;
    Reason reason = Reason::kSilent;
  };

  // Calls that are made only to be reset cost the daemon much and their caller little.
  static constexpr double kMostResets = 100;
  static constexpr double kResetsPerSecond = 100;

  // Room for `most` connections, at least 2. An admitted connection that was used less than `grace` ago does not make
  // room for another one of its own peer: the other one goes.
  explicit ConnectionTable(size_t most, absl::Duration grace = absl::Seconds(10));
  ~ConnectionTable();

  // A connection that its calls know by `name`; a peer is what shares one fair part. Says who has to go for it.
  Id Add(std::string name, const std::string& peer, absl::Time now, std::optional<Victim>* victim);
  // A call over the connection `name` has been admitted; `worker`: it is a worker's stream. Unknown names are ignored.
  // Returns who has to go, which may be this connection.
  std::optional<Victim> Admit(absl::string_view name, bool worker, absl::Time now);
  // A call over the connection `name` was reset as soon as it was made. Says whether the connection has to go.
  std::optional<Victim> NoteReset(absl::string_view name, absl::Time now);
  // The connection is closed, or is being closed. Unknown ones are ignored.
  void Remove(Id id);

  size_t size() const { return by_id_.size(); }
  size_t silent() const { return silent_count_; }
  size_t most() const { return most_; }

 private:
  struct Peer;
  struct Connection;
  // A peer's connections of one kind, the one to go first at the front; and the peers ordered by how many they have.
  enum Kind { kSilentKind, kAdmittedKind, kKinds };
  using Ranking = std::set<std::pair<size_t, Peer*>>;

  void Enlist(Connection* connection, Kind kind);
  void Delist(Connection* connection);
  Victim TakeFirst(Kind kind);
  bool TooManyAdmitted() const;

  const size_t most_, silent_places_;
  const absl::Duration grace_;
  Id last_ = 0;
  size_t silent_count_ = 0;
  absl::flat_hash_map<Id, std::unique_ptr<Connection>> by_id_;
  absl::flat_hash_map<std::string, Connection*> by_name_;
  absl::flat_hash_map<std::string, std::unique_ptr<Peer>> peers_;  // those that have connections
  Ranking rankings_[kKinds];
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_CONNECTION_TABLE_H_
