// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_HTTP_SESSION_H_
#define SERVER_WEB_HTTP_SESSION_H_

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>

#include "server/web/http_router.h"

namespace tritond::server {

// One connection: one request after another, each of which has come whole within a time and a size, or the connection
// ends. Its socket is served by one thread, which never waits for anybody. Keeps itself alive while it waits.
class HttpSession final : public std::enable_shared_from_this<HttpSession> {
 public:
  // What the connections of a server share.
  struct Server {
    // Makes answers; of the sockets' thread.
    struct Maker {
      boost::asio::thread_pool& threads;
      int under_way = 0;
    };
    const HttpRouter& router;
    Maker& pages;
    Maker& metrics;          // makes /metrics, whatever the pages wait for
    int most_under_way;      // of each maker; more are told to come again
    std::atomic<int>& open;  // how many connections there are
    // Of the sockets' thread: those that wait for the other end to send or to take something, by when they began to.
    // The bytes of answers that have not been taken.
    std::list<HttpSession*>& waiting;
    uint64_t& answer_bytes;
    // From the end of one request to that of the next, however it trickles in; browsers keep connections that they may
    // use again.
    std::chrono::nanoseconds request_time;
  };

  // `server` must outlive this.
  HttpSession(boost::asio::ip::tcp::socket socket, const Server& server);
  ~HttpSession();

  void Read();
  // Ends a connection that waits for its other end.
  void Drop();
  // Without the port.
  const std::string& peer() const { return peer_; }
  // Whether an answer is being sent.
  bool writes() const { return serializer_.has_value(); }

 private:
  using Body = boost::beast::http::string_body;

  void OnRead(boost::beast::error_code error);
  void Answer(Server::Maker& maker, HttpQuery query, bool without_body);
  void BeginWaiting();
  void EndWaiting();
  // Where untaken answers have become too many bytes, those go that nobody has taken for longest.
  void MakeRoomForAnswer();
  void Write(HttpAnswer answer, bool without_body);
  void OnWritten(boost::beast::error_code error);

  boost::beast::tcp_stream stream_;
  const Server& server_;
  boost::beast::flat_buffer buffer_;
  std::string peer_;
  std::optional<std::list<HttpSession*>::iterator> place_;  // in server_.waiting
  uint64_t answer_bytes_ = 0;                               // its part of server_.answer_bytes
  // Made anew for each request.
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<boost::beast::http::response<Body>> response_;
  std::optional<boost::beast::http::response_serializer<Body>> serializer_;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_HTTP_SESSION_H_
