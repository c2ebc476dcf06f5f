// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_session.h"

#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"

namespace tritond::server {
namespace beast = boost::beast;
namespace http = beast::http;
namespace {

constexpr std::chrono::seconds kWriteTime{60};
constexpr uint32_t kMostHeaderBytes = 16 << 10;
constexpr uint64_t kMostBodyBytes = 4096;  // Nothing that is posted needs any.

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
}

HttpSession::~HttpSession() { --server_.open; }

void HttpSession::Read() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(kMostBodyBytes);
  stream_.expires_after(server_.request_time);
  place_ = server_.reading.insert(server_.reading.end(), this);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code error, size_t) { self->OnRead(error); });
}

void HttpSession::OnRead(beast::error_code error) {
  server_.reading.erase(place_);
  if (error == http::error::body_limit)
    return Write({413, "text/plain", "nothing here needs such a body\n", {}}, /*without_body=*/false);
  if (error == http::error::header_limit)
    return Write({431, "text/plain", "nothing here needs such headers\n", {}}, /*without_body=*/false);
  if (error) return;  // Gone, too slow, or no HTTP: the connection ends with this object.
  beast::error_code ignored;
  const auto peer = stream_.socket().remote_endpoint(ignored);
  HttpQuery query = QueryOf(parser_->get(), ignored ? "" : peer.address().to_string());
  const bool without_body = parser_->get().method() == http::verb::head;
  if (HttpRouter::IsProbe(query.path)) return Write(server_.router.Answer(query), without_body);
  stream_.expires_never();
  boost::asio::post(server_.workers, [self = shared_from_this(), query = std::move(query), without_body] {
    HttpAnswer answer = self->server_.router.Answer(query);
    boost::asio::post(self->stream_.get_executor(), [self, answer = std::move(answer), without_body]() mutable {
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
  stream_.expires_after(kWriteTime);
  auto written = [self = shared_from_this()](beast::error_code error, size_t) { self->OnWritten(error); };
  if (without_body) {
    http::async_write_header(stream_, *serializer_, written);
  } else {
    http::async_write(stream_, *serializer_, written);
  }
}

void HttpSession::OnWritten(beast::error_code error) {
  if (!error && response_->keep_alive()) return Read();
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace tritond::server
