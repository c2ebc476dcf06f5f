// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_HTTP_SERVER_H_
#define SERVER_WEB_HTTP_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/web/http_router.h"

namespace tritond::server {

// Serves a few pages over plain HTTP/1.1 to browsers, Prometheus and Kubernetes. However many connections are open,
// silent or slow, and whatever the other pages wait for, probes and /metrics are answered at once. Where there are more
// connections than a limit, the server closes one of the address that has most. It closes the one that has waited
// longest for its other end to send or to take something.
class HttpServer final {
 public:
  using Pages = HttpRouter::Pages;
  static constexpr int kMostSessions = 256;

  // Listens on "HOST:PORT", HOST a name, an address, or one of IPv6 in brackets; port 0 takes a free one.
  // `most_sessions`, at least 4, is how many connections it keeps.
  // A connection ends on which no request has come whole for `request_time`. InvalidArgument for another form of the
  // address, Unavailable when it is taken or there is none of that name.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address, Pages pages,
                                                           int most_sessions = kMostSessions,
                                                           absl::Duration request_time = absl::Seconds(10));
  ~HttpServer();

  int port() const { return port_; }

 private:
  class Listener;
  HttpServer();

  std::unique_ptr<Listener> listener_;
  int port_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_HTTP_SERVER_H_
