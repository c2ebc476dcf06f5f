// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_CONNECTIONS_H_
#define SERVER_APP_CONNECTIONS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/admission/connection_table.h"
#include "server/app/descriptor.h"
#include "server/app/log_line.h"
#include "server/rpc/authorizer.h"

namespace tritond::server {

// The sockets of gRPC's connections, at most a number of them (ConnectionTable says which). gRPC owns each socket that
// it was given, and does not tell when it closes one. So a socket is known by its descriptor and inode. Where another
// file has the descriptor, the connection has ended. A connection that has to go is shut down, and gRPC then closes it.
// Thread-safe. Must outlive the listeners.
class Connections final : public CallListener {
 public:
  // `clock` only counts. `registry` gets the metrics and must outlive this.
  Connections(size_t most, std::function<absl::Time()> clock, prometheus::Registry& registry, LogSink log);

  // Takes a new connection that calls know by `name`, of a peer with which it shares one part. Calls `hand_over(fd)`,
  // which owns it from then on. Where too many are still being closed it waits for them a moment, and
  // closes the connection when that does not help. The listener's thread is the one that waits.
  void Welcome(Descriptor connection, const std::string& name, const std::string& peer,
               const std::function<void(int fd)>& hand_over);
  void OnAdmitted(absl::string_view name, Need need) override;
  void OnReset(absl::string_view name) override;
  // There was no descriptor for a new connection.
  void NoteExhausted();
  // Forgets connections that have ended. To be called about once a second.
  void Sweep();

  // Counts this process's descriptors for the metrics.
  void CountDescriptors();
  // Why new connections cannot be had now; empty: they can.
  std::string Exhausted() const;
  // That connections were closed for want of room within the last minute; empty: none were.
  std::string Trouble() const;
  size_t size() const;

 private:
  using Id = ConnectionTable::Id;
  struct Socket {
    int fd = -1;
    ino_t inode = 0;
  };

  void CloseVictim(const ConnectionTable::Victim& victim) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetLocked(Id id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  prometheus::Counter& ClosedCounter(ConnectionTable::Reason reason);
  void TurnedAwayLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // False when too many are still being closed.
  bool HasRoomForOneMore();

  const std::function<absl::Time()> clock_;
  const LogSink log_;
  prometheus::Gauge& silent_;
  prometheus::Gauge& admitted_;
  prometheus::Gauge& descriptors_;
  prometheus::Counter& closed_silent_;
  prometheus::Counter& closed_share_;
  prometheus::Counter& closed_resets_;
  prometheus::Counter& refused_;
  prometheus::Counter& exhaustions_;

  mutable absl::Mutex mu_;
  ConnectionTable table_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Id, Socket> sockets_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<int, Id> by_fd_ ABSL_GUARDED_BY(mu_);
  std::vector<Socket> leaving_ ABSL_GUARDED_BY(mu_);  // shut down, and perhaps not closed yet
  absl::Time turned_away_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time told_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time told_of_resets_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time exhausted_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace tritond::server

#endif  // SERVER_APP_CONNECTIONS_H_
