// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_HTTP_ROUTER_H_
#define SERVER_WEB_HTTP_ROUTER_H_

#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "server/web/page_access.h"
#include "server/web/status_api.h"

namespace tritond::server {

// What of a request counts here.
struct HttpQuery {
  std::string method;                          // "GET"
  std::string path;                            // without what follows a "?"
  std::map<std::string, std::string> headers;  // by names in small letters
  std::string peer;                            // the caller's address: "127.0.0.1"
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain";
  std::string body;
  std::map<std::string, std::string> headers;  // besides those that every answer has
};

// Which page answers a request; knows nothing of sockets. Thread-safe as far as its pages are.
class HttpRouter final {
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

  // `listens_locally`: nobody on another machine can dial.
  HttpRouter(Pages pages, bool listens_locally);

  // Whether the path is a probe's, whose answer waits for nothing.
  static bool IsProbe(absl::string_view path) { return path == "/healthz" || path == "/readyz"; }
  // Whether it is what Prometheus asks for, which waits for other pages no more than a probe does.
  static bool IsMetrics(absl::string_view path) { return path == "/metrics"; }
  // May wait for disks and networks, but for a probe.
  HttpAnswer Answer(const HttpQuery& query) const;

 private:
  WebCaller CallerOf(const HttpQuery& query) const;
  HttpAnswer Api(const HttpQuery& query) const;
  HttpAnswer Ready() const;

  const Pages pages_;
  const std::string policy_;  // of the page
  const bool listens_locally_;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_HTTP_ROUTER_H_
