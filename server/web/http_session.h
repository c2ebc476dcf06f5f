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
    const HttpRouter& router;
    boost::asio::thread_pool& workers;  // They make the answers, but for those of probes.
    std::atomic<int>& open;             // how many connections there are
    std::list<HttpSession*>& reading;   // those without a whole request, by its beginning; of the sockets' thread
    // From the end of one request to that of the next, however it trickles in; browsers keep connections that they may
    // use again.
    std::chrono::nanoseconds request_time;
  };

  // `server` must outlive this.
  HttpSession(boost::asio::ip::tcp::socket socket, const Server& server);
  ~HttpSession();

  void Read();
  // Ends a connection that reads.
  void Drop() { stream_.close(); }

 private:
  using Body = boost::beast::http::string_body;

  void OnRead(boost::beast::error_code error);
  void Write(HttpAnswer answer, bool without_body);
  void OnWritten(boost::beast::error_code error);

  boost::beast::tcp_stream stream_;
  const Server& server_;
  boost::beast::flat_buffer buffer_;
  std::list<HttpSession*>::iterator place_;  // in server_.reading
  // Made anew for each request.
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<boost::beast::http::response<Body>> response_;
  std::optional<boost::beast::http::response_serializer<Body>> serializer_;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_HTTP_SESSION_H_
