// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_HTTP_SERVER_H_
#define SERVER_WEB_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/web/page_access.h"
#include "server/web/status_api.h"

namespace httplib {
class Server;
}

namespace tritond::server {

// Serves a few pages over plain HTTP to browsers, Prometheus and Kubernetes.
class HttpServer final {
 public:
  struct Pages {
    std::string page;  // HTML, whole in itself; at /
    // What begins with /api/; null: nothing does.
    std::function<WebAnswer(absl::string_view path, const WebCaller& caller)> api;
    // What is posted there; null: nothing can be.
    std::function<WebAnswer(absl::string_view path, const WebCaller& caller)> post;
    std::function<std::string(const WebCaller&)> metrics;  // Prometheus text
    // Empty when the daemon takes compiles; else why not.
    std::function<std::string()> not_ready;
    // What is not as it should be although the daemon takes compiles; null or empty: nothing.
    std::function<std::string()> degraded;
  };

  // Listens on "HOST:PORT"; port 0 takes a free one. InvalidArgument for another form, Unavailable when the address is
  // taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address, Pages pages);
  ~HttpServer();

  int port() const { return port_; }

 private:
  HttpServer();

  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  int port_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_HTTP_SERVER_H_
