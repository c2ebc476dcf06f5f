// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_session.h"

#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "timing/turns/turns.h"

namespace tritond::server {
namespace beast = boost::beast;
namespace http = beast::http;
namespace {

constexpr std::chrono::seconds kWriteTime{60};
constexpr uint32_t kMostHeaderBytes = 16 << 10;
constexpr uint64_t kMostBodyBytes = 4096;  // Nothing that is posted needs any.
constexpr uint64_t kMostAnswerBytes = uint64_t{128} << 20;

HttpQuery QueryOf(const http::request<http::string_body>& request, std::string peer) {
  HttpQuery query;
  query.method = std::string(request.method_string());
  query.path = std::string(request.target());
  query.path.resize(std::min(query.path.size(), query.path.find('?')));
  for (const auto& field : request)
    query.headers.emplace(absl::AsciiStrToLower(std::string(field.name_string())), std::string(field.value()));
  query.peer = std::move(peer);
  return query;
}

}  // namespace

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, const Server& server)
    : stream_(std::move(socket)), server_(server) {
  ++server_.open;
  beast::error_code error;
  const auto peer = stream_.socket().remote_endpoint(error);
  if (!error) peer_ = peer.address().to_string();
}

HttpSession::~HttpSession() { --server_.open; }

void HttpSession::BeginWaiting() { place_ = server_.waiting.insert(server_.waiting.end(), this); }

void HttpSession::EndWaiting() {
  if (place_.has_value()) server_.waiting.erase(*place_);
  place_.reset();
}

void HttpSession::Drop() {
  EndWaiting();
  stream_.close();
}

void HttpSession::Read() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(kMostBodyBytes);
  stream_.expires_after(server_.request_time);
  BeginWaiting();
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code error, size_t) { self->OnRead(error); });
}

void HttpSession::OnRead(beast::error_code error) {
  EndWaiting();
  if (error == http::error::body_limit)
    return Write({413, "text/plain", "nothing here needs such a body\n", {}}, /*without_body=*/false);
  if (error == http::error::header_limit)
    return Write({431, "text/plain", "nothing here needs such headers\n", {}}, /*without_body=*/false);
  if (error) return;  // Gone, too slow, or no HTTP: the connection ends with this object.
  HttpQuery query = QueryOf(parser_->get(), peer_);
  const bool without_body = parser_->get().method() == http::verb::head;
  if (HttpRouter::IsProbe(query.path)) return Write(server_.router.Answer(query), without_body);
  Server::Maker& maker = HttpRouter::IsMetrics(query.path) ? server_.metrics : server_.pages;
  if (maker.under_way >= server_.most_under_way)
    return Write({503, "text/plain", "too many pages are being made: try again\n", {{"Retry-After", "1"}}},
                 without_body);
  Answer(maker, std::move(query), without_body);
}

void HttpSession::Answer(Server::Maker& maker, HttpQuery query, bool without_body) {
  stream_.expires_never();
  ++maker.under_way;
  boost::asio::post(maker.threads, [self = shared_from_this(), &maker, query = std::move(query), without_body] {
    thread_local const bool gives_way = (timing::GiveWay(), true);  // Each of these threads, once.
    static_cast<void>(gives_way);
    HttpAnswer answer = self->server_.router.Answer(query);
    boost::asio::post(self->stream_.get_executor(), [self, &maker, answer = std::move(answer), without_body]() mutable {
      --maker.under_way;
      self->Write(std::move(answer), without_body);
    });
  });
}

void HttpSession::Write(HttpAnswer answer, bool without_body) {
  response_.emplace(static_cast<http::status>(answer.status), parser_->get().version());
  response_->set(http::field::content_type, answer.type);
  response_->set("X-Content-Type-Options", "nosniff");
  response_->set("Referrer-Policy", "no-referrer");
  response_->set(http::field::cache_control, "no-store");
  response_->keep_alive(parser_->is_done() && parser_->keep_alive());
  for (const auto& [name, value] : answer.headers) response_->set(name, value);
  response_->body() = std::move(answer.body);
  response_->prepare_payload();
  serializer_.emplace(*response_);
  answer_bytes_ = response_->body().size();
  server_.answer_bytes += answer_bytes_;
  MakeRoomForAnswer();
  stream_.expires_after(kWriteTime);
  BeginWaiting();
  auto written = [self = shared_from_this()](beast::error_code error, size_t) { self->OnWritten(error); };
  if (without_body) {
    http::async_write_header(stream_, *serializer_, written);
  } else {
    http::async_write(stream_, *serializer_, written);
  }
}

void HttpSession::MakeRoomForAnswer() {
  const std::list<HttpSession*> waiting = server_.waiting;
  uint64_t left = server_.answer_bytes;
  for (HttpSession* other : waiting) {
    if (left <= kMostAnswerBytes) return;
    if (!other->writes()) continue;
    left -= other->answer_bytes_;
    other->Drop();
  }
}

void HttpSession::OnWritten(beast::error_code error) {
  EndWaiting();
  serializer_.reset();
  server_.answer_bytes -= std::exchange(answer_bytes_, 0);
  if (!error && response_->keep_alive()) return Read();
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace tritond::server
