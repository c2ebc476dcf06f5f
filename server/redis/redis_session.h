// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REDIS_SESSION_H_
#define SERVER_REDIS_REDIS_SESSION_H_

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/redis/redis_client.h"
#include "server/redis/redis_limits.h"

namespace tritond::server {

// One connection. Reads requests, runs those that have come whole, sends the answers, and then reads on. It never holds
// more than that, however much its peer sends or does not take. Its socket is served by one thread, which never waits;
// commands that may wait for a disk run on others. Keeps itself alive while anything is under way.
class RedisSession final : public std::enable_shared_from_this<RedisSession> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Reason = RedisMetrics::Reason;

  // What the sessions of a server share; all but the disk's threads is of the sockets' thread.
  struct Server {
    const RedisParts& parts;
    const RedisTimes times;
    boost::asio::thread_pool& disk_threads;
    std::list<RedisSession*>& waiting;  // those that wait for their peer, the longest first
    std::atomic<size_t>& open;
  };

  // With `tls` the peer must speak it. `server` must outlive this.
  RedisSession(Socket socket, uint64_t id, RedisPeer peer, std::shared_ptr<boost::asio::ssl::context> tls,
               Server& server);
  ~RedisSession();

  void Start();
  // Ends a connection that waits for its peer.
  void Drop(Reason reason);
  // Why a connection that waits for its peer has to go now; nothing: it may stay.
  std::optional<Reason> Overdue(absl::Time now) const;
  const std::string& peer_group() const { return peer_.group; }

 private:
  enum class Phase { kRunning, kHandshake, kIdle, kRequest, kAnswer, kClosing };

  void OnHandshake(const boost::system::error_code& error);
  void BeginWaiting(Phase phase);
  void EndWaiting();
  void Read();
  void OnRead(const boost::system::error_code& error, size_t bytes, bool into_tail);
  void Parse();
  // Makes room for the request that is being read; false: not now, and Parse goes on later.
  bool MakeRoomForRequest();
  void SkipRequest(RedisRequest::Kind kind);
  void Execute();
  RedisClient::Progress RunRequests();
  void OnRun(RedisClient::Progress progress);
  void Write();
  void OnWritten(const boost::system::error_code& error, size_t bytes);
  void AfterAnswers();
  // Calls `retry` in a moment; when the time for that is over, with `without_room_`.
  void AwaitRoom(void (RedisSession::*retry)());
  void EndAwaitingRoom();
  void DropLongestHolder();
  void RefuseMalformed();
  void Linger();

  const std::shared_ptr<boost::asio::ssl::context> tls_context_;  // Shared by the sessions that began with it.
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  Server& server_;
  const RedisPeer peer_;
  RedisClient client_;
  boost::asio::steady_timer retry_;

  // Of the sockets' thread.
  Phase phase_ = Phase::kRunning;
  std::optional<std::list<RedisSession*>::iterator> place_;  // in server_.waiting
  absl::Time since_;                                         // when the phase began
  absl::Time held_since_;                                    // when it took the first of its memory
  absl::Time room_since_ = absl::InfinitePast();             // when it began to wait for room
  RequestParser parser_;
  std::string buffer_;
  absl::string_view input_;  // what of `buffer_` is not parsed yet

  // Of the sockets' thread, but of the disk's while requests run.
  std::vector<ByteBudget::Hold> request_holds_;  // of the request that is being read, or of those in `requests_`
  uint64_t held_bytes_ = 0;                      // by them
  std::vector<RedisRequest> requests_;
  size_t next_ = 0;  // of `requests_`, to be run
  bool without_room_ = false;
  RedisAnswer answer_;
  std::vector<cache::Blob> pieces_;  // of the answer that is being sent
  size_t piece_ = 0, offset_ = 0;    // what of it comes next
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REDIS_SESSION_H_
