// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_SERVICE_NOTIFIER_H_
#define SERVER_APP_SERVICE_NOTIFIER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tritond::server {

// Tells the service manager that started this process its state, by the protocol of sd_notify(3). Each state is a
// datagram to the manager's socket. Thread-safe.
class ServiceNotifier final {
 public:
  // `socket` is the value of NOTIFY_SOCKET: a path, or @NAME in the abstract namespace. Null or empty: there is no
  // manager, and nothing is sent.
  explicit ServiceNotifier(const char* socket) : socket_(socket == nullptr ? "" : socket) {}

  // READY=1, STOPPING=1 or WATCHDOG=1. A state that cannot be sent is lost: managers have time limits of their own.
  void Tell(absl::string_view state) const;
  // RELOADING=1; Tell("READY=1") ends it.
  void TellReloading() const;

 private:
  const std::string socket_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_SERVICE_NOTIFIER_H_
