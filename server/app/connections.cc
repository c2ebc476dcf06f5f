// SPDX-License-Identifier: Apache-2.0
#include "server/app/connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/descriptor_limit.h"

namespace tritond::server {
namespace {

constexpr size_t kMostLeaving = 32;
constexpr absl::Duration kLeavingPause = absl::Milliseconds(2);
constexpr int kLeavingPauses = 250;
constexpr absl::Duration kTroubleLasts = absl::Minutes(1);
constexpr absl::Duration kExhaustionLasts = absl::Seconds(10);

// 0: nothing is open there.
ino_t InodeOf(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) ? found.st_ino : 0;
}

// False when it has been closed. Another thread may close the descriptor at any moment and get it again for another
// file; a copy stays what it is. Where there is no descriptor for a copy the risk is taken.
bool ShutDown(int fd, ino_t inode) {
  const Descriptor copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  const int held = copy.get() < 0 ? fd : copy.get();
  if (InodeOf(held) != inode) return false;
  shutdown(held, SHUT_RDWR);
  return true;
}

prometheus::Family<prometheus::Counter>& ClosedFamily(prometheus::Registry& registry) {
  return prometheus::BuildCounter()
      .Name("tritond_connections_closed_total")
      .Help(
          "Connections that the daemon closed, by reason. At the limit of connections: silent, without a call; share, "
          "of the "
          "peer with the most; refused, when too many were being closed. Else resets: too many calls were reset.")
      .Register(registry);
}

prometheus::Family<prometheus::Gauge>& GaugeFamily(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

prometheus::Gauge& OpenGauge(prometheus::Registry& registry, const char* state) {
  return GaugeFamily(registry, "tritond_connections",
                     "Open connections of clients and workers; silent: without an admitted call.")
      .Add({{"state", state}});
}

}  // namespace

Connections::Connections(size_t most, std::function<absl::Time()> clock, prometheus::Registry& registry, LogSink log)
    : clock_(std::move(clock)),
      log_(std::move(log)),
      silent_(OpenGauge(registry, "silent")),
      admitted_(OpenGauge(registry, "admitted")),
      descriptors_(GaugeFamily(registry, "tritond_open_descriptors", "Open files and sockets of the daemon.").Add({})),
      closed_silent_(ClosedFamily(registry).Add({{"reason", "silent"}})),
      closed_share_(ClosedFamily(registry).Add({{"reason", "share"}})),
      closed_resets_(ClosedFamily(registry).Add({{"reason", "resets"}})),
      refused_(ClosedFamily(registry).Add({{"reason", "refused"}})),
      exhaustions_(prometheus::BuildCounter()
                       .Name("tritond_descriptors_exhausted_total")
                       .Help("Connections that were not accepted because no file descriptor was free.")
                       .Register(registry)
                       .Add({})),
      table_(most) {
  GaugeFamily(registry, "tritond_connections_limit", "Limit of connections of clients and workers.")
      .Add({})
      .Set(static_cast<double>(most));
  GaugeFamily(registry, "tritond_descriptors_limit", "Limit of open files and sockets of the daemon.")
      .Add({})
      .Set(static_cast<double>(DescriptorLimit()));
}

void Connections::CountDescriptors() { descriptors_.Set(static_cast<double>(OpenDescriptors())); }

void Connections::Welcome(Descriptor connection, const std::string& name, const std::string& peer,
                          const std::function<void(int fd)>& hand_over) {
  bool room = HasRoomForOneMore();
  for (int i = 0; !room && i < kLeavingPauses; ++i) {
    absl::SleepFor(kLeavingPause);
    room = HasRoomForOneMore();
  }
  const int fd = connection.get();
  const ino_t inode = InodeOf(fd);
  {
    absl::MutexLock lock(&mu_);
    if (!room || inode == 0) {
      refused_.Increment();
      TurnedAwayLocked();
      return;
    }
    auto same = by_fd_.find(fd);
    if (same != by_fd_.end()) ForgetLocked(same->second);  // gRPC has closed that one.
    std::optional<ConnectionTable::Victim> victim;
    const Id id = table_.Add(name, peer, clock_(), &victim);
    sockets_[id] = {fd, inode};
    by_fd_[fd] = id;
    if (victim.has_value()) CloseVictim(*victim);
    CountLocked();
  }
  hand_over(connection.Release());
}

bool Connections::HasRoomForOneMore() {
  absl::MutexLock lock(&mu_);
  if (leaving_.size() < kMostLeaving) return true;
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(),
                                [](const Socket& socket) { return InodeOf(socket.fd) != socket.inode; }),
                 leaving_.end());
  return leaving_.size() < kMostLeaving;
}

void Connections::OnAdmitted(absl::string_view name, Need need) {
  absl::MutexLock lock(&mu_);
  const std::optional<ConnectionTable::Victim> victim = table_.Admit(name, need == Need::kWorker, clock_());
  if (!victim.has_value()) return;
  CloseVictim(*victim);
  CountLocked();
}

void Connections::OnReset(absl::string_view name) {
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  const std::optional<ConnectionTable::Victim> victim = table_.NoteReset(name, now);
  if (!victim.has_value()) return;
  CloseVictim(*victim);
  CountLocked();
  if (now - told_of_resets_ < kTroubleLasts) return;
  told_of_resets_ = now;
  log_({LogEvent::Level::kWarning,
        "message",
        absl::StrCat("connection ", name,
                     " is closed: it resets calls as soon as it has made them; block its address if it goes on"),
        {}});
}

prometheus::Counter& Connections::ClosedCounter(ConnectionTable::Reason reason) {
  switch (reason) {
    case ConnectionTable::Reason::kSilent:
      return closed_silent_;
    case ConnectionTable::Reason::kShare:
      return closed_share_;
    case ConnectionTable::Reason::kResets:
      break;
  }
  return closed_resets_;
}

void Connections::CloseVictim(const ConnectionTable::Victim& victim) {
  ClosedCounter(victim.reason).Increment();
  auto found = sockets_.find(victim.id);
  if (found == sockets_.end()) return;
  const Socket socket = found->second;
  ForgetLocked(victim.id);
  if (ShutDown(socket.fd, socket.inode)) {
    leaving_.push_back(socket);
    if (victim.reason != ConnectionTable::Reason::kResets) TurnedAwayLocked();
  }
}

void Connections::ForgetLocked(Id id) {
  table_.Remove(id);
  auto found = sockets_.find(id);
  if (found == sockets_.end()) return;
  auto named = by_fd_.find(found->second.fd);
  if (named != by_fd_.end() && named->second == id) by_fd_.erase(named);
  sockets_.erase(found);
}

void Connections::TurnedAwayLocked() {
  turned_away_ = clock_();
  if (turned_away_ - told_ < kTroubleLasts) return;
  told_ = turned_away_;
  log_({LogEvent::Level::kWarning,
        "message",
        absl::StrCat("there is no room for more than ", table_.most(),
                     " connections (--max-connections): some are being closed"),
        {}});
}

void Connections::CountLocked() {
  silent_.Set(static_cast<double>(table_.silent()));
  admitted_.Set(static_cast<double>(table_.size() - table_.silent()));
}

void Connections::NoteExhausted() {
  exhaustions_.Increment();
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  const bool first = now - exhausted_ > kExhaustionLasts;
  exhausted_ = now;
  if (first)
    log_({LogEvent::Level::kError,
          "message",
          absl::StrCat("no connection can be accepted: all ", DescriptorLimit(), " file descriptors are in use"),
          {}});
}

void Connections::Sweep() {
  std::vector<std::pair<Id, Socket>> sockets;
  {
    absl::MutexLock lock(&mu_);
    sockets.assign(sockets_.begin(), sockets_.end());
  }
  std::vector<Id> ended;
  for (const auto& [id, socket] : sockets) {
    if (InodeOf(socket.fd) != socket.inode) ended.push_back(id);
  }
  HasRoomForOneMore();
  absl::MutexLock lock(&mu_);
  for (Id id : ended) ForgetLocked(id);
  CountLocked();
}

std::string Connections::Exhausted() const {
  absl::MutexLock lock(&mu_);
  if (clock_() - exhausted_ > kExhaustionLasts) return "";
  return absl::StrCat("out of file descriptors: all ", DescriptorLimit(), " are in use");
}

std::string Connections::Trouble() const {
  absl::MutexLock lock(&mu_);
  if (clock_() - turned_away_ > kTroubleLasts) return "";
  return absl::StrCat("connections are being closed: ", table_.size(), " are open, and there is room for ",
                      table_.most(), " (--max-connections)");
}

size_t Connections::size() const {
  absl::MutexLock lock(&mu_);
  return table_.size();
}

}  // namespace tritond::server
