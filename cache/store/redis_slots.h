// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_REDIS_SLOTS_H_
#define CACHE_STORE_REDIS_SLOTS_H_

#include "absl/strings/string_view.h"

namespace tritond::cache {

inline constexpr int kRedisSlots = 16384;

// The hash slot of a key, as the Redis Cluster specification has it: CRC-16 (XMODEM) modulo 16384. It is computed from
// the text between the first '{' and the next '}' if that is not empty, else from the whole key.
int RedisSlot(absl::string_view key);

}  // namespace tritond::cache

#endif  // CACHE_STORE_REDIS_SLOTS_H_
