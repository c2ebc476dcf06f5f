// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REDIS_LIMITS_H_
#define SERVER_REDIS_REDIS_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace tritond::server {

// How long a connection may take for what. Whatever it does is bounded by one of them.
struct RedisTimes {
  absl::Duration idle = absl::Minutes(5);      // between requests
  absl::Duration stalled = absl::Seconds(10);  // without a byte in a request, an answer, a handshake
  absl::Duration room = absl::Seconds(10);     // until memory for a request or an answer is there
  // Who has held memory this long loses it to another one that has waited for some for a while.
  absl::Duration held = absl::Seconds(5);
  absl::Duration waited = absl::Seconds(1);
};

// Where a connection comes from.
struct RedisPeer {
  std::string group;   // whose connections share one part: an address
  bool local = false;  // this machine's loopback: nobody on the way can read what is said
};

struct RedisLimits {
  uint64_t request_bytes = uint64_t{64} << 20;  // of one request, at least RequestParser::kFreeBytes
  // Of all requests and answers under way; at least two of the largest requests.
  uint64_t memory_bytes = uint64_t{512} << 20;
  size_t connections = 1024;
  RedisTimes times;
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REDIS_LIMITS_H_
