// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/web/http_session.h"

namespace tritond::server {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr int kThreads = 4;
// Of the connections, so that there is always one that waits for its other end and can be closed.
constexpr int kAnsweringShare = 4;
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

class HttpServer::Listener {
 public:
  Listener(Pages pages, bool listens_locally, int most_sessions, absl::Duration request_time)
      : most_sessions_(most_sessions),
        router_(std::move(pages), listens_locally),
        server_{router_, pages_,   metrics_,      most_sessions / kAnsweringShare,
                open_,   waiting_, answer_bytes_, absl::ToChronoNanoseconds(request_time)} {}
  ~Listener() {
    page_threads_.stop();
    metrics_thread_.stop();
    page_threads_.join();
    metrics_thread_.join();
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  boost::system::error_code Open(const std::string& host, const std::string& port) {
    boost::system::error_code error;
    const auto found = tcp::resolver(io_).resolve(host, port, tcp::resolver::passive, error);
    if (error) return error;
    const tcp::endpoint endpoint = found.begin()->endpoint();
    if (acceptor_.open(endpoint.protocol(), error)) return error;
    // Restart without waiting; the port is not shared with another daemon.
    if (acceptor_.set_option(tcp::acceptor::reuse_address(true), error)) return error;
    if (acceptor_.bind(endpoint, error)) return error;
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }
  int port() const { return acceptor_.local_endpoint().port(); }
  void Begin() {
    Accept();
    thread_ = std::thread([this] { io_.run(); });
  }

 private:
  // A probe always gets in.
  void Welcome(tcp::socket socket) {
    if (open_ >= most_sessions_) {
      if (waiting_.empty()) return;
      OneToDrop()->Drop();
    }
    std::make_shared<HttpSession>(std::move(socket), server_)->Read();  // Keeps itself.
  }
  HttpSession* OneToDrop() const {
    absl::flat_hash_map<absl::string_view, int> counts;
    int most = 0;
    for (const HttpSession* session : waiting_) most = std::max(most, ++counts[session->peer()]);
    return *std::find_if(waiting_.begin(), waiting_.end(),
                         [&](const HttpSession* session) { return counts[session->peer()] == most; });
  }
  void Accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!error) Welcome(std::move(socket));
      if (!error) return Accept();
      pause_.expires_after(kPause);  // For want of file descriptors, or of memory.
      pause_.async_wait([this](boost::system::error_code) { Accept(); });
    });
  }

  // What connections use comes before what holds them.
  const int most_sessions_;
  const HttpRouter router_;
  std::atomic<int> open_{0};
  std::list<HttpSession*> waiting_;
  uint64_t answer_bytes_ = 0;
  HttpSession::Server::Maker pages_{page_threads_};
  HttpSession::Server::Maker metrics_{metrics_thread_};
  const HttpSession::Server server_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  asio::thread_pool page_threads_{kThreads};
  asio::thread_pool metrics_thread_{1};
  std::thread thread_;
};

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address, Pages pages,
                                                              int most_sessions, absl::Duration request_time) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("http address must be HOST:PORT, not ", address));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::unique_ptr<HttpServer> http(new HttpServer());
  http->listener_ = std::make_unique<Listener>(std::move(pages), IsLoopbackHost(address), most_sessions, request_time);
  const boost::system::error_code error = http->listener_->Open(host, std::to_string(port));
  if (error) return absl::UnavailableError(absl::StrCat("cannot listen for HTTP on ", address, ": ", error.message()));
  http->port_ = http->listener_->port();
  http->listener_->Begin();
  return http;
}

}  // namespace tritond::server
