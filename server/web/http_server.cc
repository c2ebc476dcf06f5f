// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_server.h"

#include <httplib.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/web/content_policy.h"

namespace tritond::server {
namespace {

constexpr int kThreads = 4;
constexpr size_t kMaxBody = 4096;  // bytes; nothing that is posted needs any

// Behind a proxy the caller's own address is somebody's word.
bool CameThroughProxy(const httplib::Request& request) {
  return request.has_header("Forwarded") || request.has_header("X-Forwarded-For") || request.has_header("Via");
}

WebCaller CallerOf(const httplib::Request& request, bool listens_locally) {
  WebCaller caller;
  caller.local = listens_locally && IsLoopbackAddress(request.remote_addr) &&
                 IsLoopbackHost(request.get_header_value("Host")) && !CameThroughProxy(request);
  const std::string header = request.get_header_value("Authorization");
  absl::string_view token = header;
  // Another scheme is no token that anyone knows, and not nothing.
  absl::ConsumePrefix(&token, "Bearer ");
  if (!header.empty()) caller.token = token.empty() ? "-" : std::string(token);
  caller.deliberate = request.has_header(kIntentHeader);
  return caller;
}

using Api = std::function<WebAnswer(absl::string_view path, const WebCaller& caller)>;

httplib::Server::Handler ApiHandler(const Api& api, bool listens_locally) {
  return [api, listens_locally](const httplib::Request& request, httplib::Response& response) {
    if (!api) return void(response.status = 404);
    WebAnswer answer = api(request.path, CallerOf(request, listens_locally));
    response.status = answer.status;
    // What a kernel's text says is never a page of ours, whatever opens it.
    response.set_header("Content-Security-Policy", "default-src 'none'; sandbox");
    response.set_content(std::move(answer.body), answer.type);
  };
}

void AddPages(const HttpServer::Pages& pages, bool listens_locally, httplib::Server* server) {
  server->set_default_headers(
      {{"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}, {"Cache-Control", "no-store"}});
  server->Get("/", [pages, policy = ContentPolicy(pages.page)](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Security-Policy", policy);
    response.set_content(pages.page, "text/html; charset=utf-8");
  });
  server->Get("/api/.*", ApiHandler(pages.api, listens_locally));
  server->Post("/api/.*", ApiHandler(pages.post, listens_locally));
  server->Get("/metrics", [pages, listens_locally](const httplib::Request& request, httplib::Response& response) {
    response.set_content(pages.metrics(CallerOf(request, listens_locally)), "text/plain; version=0.0.4; charset=utf-8");
  });
  server->Get("/healthz",
              [](const httplib::Request&, httplib::Response& response) { response.set_content("ok\n", "text/plain"); });
  server->Get("/readyz", [pages](const httplib::Request&, httplib::Response& response) {
    const std::string why = pages.not_ready();
    response.status = why.empty() ? 200 : 503;
    const std::string degraded = pages.degraded ? pages.degraded() : "";
    const std::string ready = degraded.empty() ? "ok" : "ok, but " + degraded;
    response.set_content((why.empty() ? ready : why) + "\n", "text/plain");
  });
}

}  // namespace

HttpServer::HttpServer() : server_(std::make_unique<httplib::Server>()) {}

HttpServer::~HttpServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address, Pages pages) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("http address must be HOST:PORT, not ", address));
  }
  const std::string host = address.substr(0, colon);
  std::unique_ptr<HttpServer> http(new HttpServer());
  httplib::Server& server = *http->server_;
  server.set_payload_max_length(kMaxBody);
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_socket_options([](int socket) {
    const int yes = 1;  // Restart without waiting; the library's own choice would share the port with another daemon.
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  AddPages(pages, IsLoopbackHost(address), &server);
  if (port == 0) {
    port = server.bind_to_any_port(host.c_str());
  } else if (!server.bind_to_port(host.c_str(), port)) {
    port = -1;
  }
  if (port < 0) return absl::UnavailableError(absl::StrCat("cannot listen for HTTP on ", address));
  http->port_ = port;
  http->thread_ = std::thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // stop() does nothing before.
  return http;
}

}  // namespace tritond::server
