// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REDIS_METRICS_H_
#define SERVER_REDIS_REDIS_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tritond::server {

// What is counted about the Redis port:
//
//   tritond_redis_commands_total{command, result}       "other": commands that there are not, and requests read past
//   tritond_redis_connections, tritond_redis_connections_limit
//   tritond_redis_connections_closed_total{reason}      those that the daemon closed
//   tritond_redis_bytes_total{direction}                received, sent; before TLS
//   tritond_redis_memory_bytes                          of requests and answers under way
//   tritond_redis_stored_bytes, tritond_redis_entries
//
// Thread-safe; the registry outlives it.
class RedisMetrics final {
 public:
  enum class Result { kOk, kMiss, kDenied, kError };
  // Why the daemon closes a connection.
  enum class Reason {
    kIdle,       // It has asked for nothing for too long.
    kStalled,    // It has not gone on in the middle of a request, an answer or a handshake.
    kRoom,       // Another connection needs its place, and its peer has most.
    kMemory,     // It holds memory for longest, and another one waits for that.
    kMalformed,  // It does not speak the protocol.
  };

  // `commands`: the values of the label; Count takes an index into them, or their number for "other".
  RedisMetrics(prometheus::Registry& registry, const std::vector<std::string>& commands);

  void Count(size_t command, Result result);
  void CountClosed(Reason reason) { closed_[static_cast<size_t>(reason)]->Increment(); }
  // Of all that Count has heard of.
  uint64_t requests() const { return requests_; }

  prometheus::Gauge& connections;
  prometheus::Gauge& connections_limit;
  prometheus::Gauge& memory_bytes;
  prometheus::Gauge& stored_bytes;
  prometheus::Gauge& entries;
  prometheus::Counter& received_bytes;
  prometheus::Counter& sent_bytes;

 private:
  static constexpr size_t kResults = 4, kReasons = 5;

  std::vector<std::array<prometheus::Counter*, kResults>> commands_;  // The registry owns them.
  std::array<prometheus::Counter*, kReasons> closed_;
  std::atomic<uint64_t> requests_{0};
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REDIS_METRICS_H_
