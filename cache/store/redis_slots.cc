// SPDX-License-Identifier: Apache-2.0
#include "cache/store/redis_slots.h"

#include <cstdint>

namespace tritond::cache {

int RedisSlot(absl::string_view key) {
  const size_t open = key.find('{');
  if (open != absl::string_view::npos) {
    const size_t close = key.find('}', open + 1);
    if (close != absl::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  uint16_t crc = 0;
  for (const char c : key) {
    crc ^= static_cast<uint16_t>(static_cast<unsigned char>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
  }
  return crc % kRedisSlots;
}

}  // namespace tritond::cache
