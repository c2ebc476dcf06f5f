// SPDX-License-Identifier: Apache-2.0
#include "server/redis/redis_metrics.h"

namespace tritond::server {
namespace {

prometheus::Gauge& MakeGauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Family<prometheus::Counter>& CounterFamily(prometheus::Registry& registry, const char* name,
                                                       const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Counter& BytesCounter(prometheus::Registry& registry, const char* direction) {
  return CounterFamily(registry, "tritond_redis_bytes_total", "Bytes of requests and answers on the Redis port.")
      .Add({{"direction", direction}});
}

}  // namespace

RedisMetrics::RedisMetrics(prometheus::Registry& registry, const std::vector<std::string>& commands)
    : connections(MakeGauge(registry, "tritond_redis_connections", "Open connections of the Redis port.")),
      connections_limit(
          MakeGauge(registry, "tritond_redis_connections_limit", "Limit of connections of the Redis port.")),
      memory_bytes(MakeGauge(registry, "tritond_redis_memory_bytes",
                             "Memory of the requests and answers that are under way on the Redis port.")),
      stored_bytes(MakeGauge(registry, "tritond_redis_stored_bytes",
                             "Bytes of the values that clients store, with 4 KiB for each.")),
      entries(MakeGauge(registry, "tritond_redis_entries", "Values that clients store.")),
      received_bytes(BytesCounter(registry, "received")),
      sent_bytes(BytesCounter(registry, "sent")) {
  auto& answered = CounterFamily(registry, "tritond_redis_commands_total",
                                 "Commands of the Redis port by result; miss: GET found nothing; denied: without "
                                 "credentials or without the role.");
  constexpr std::array<const char*, kResults> kResultNames{"ok", "miss", "denied", "error"};
  for (size_t i = 0; i <= commands.size(); ++i) {
    auto& counters = commands_.emplace_back();
    for (size_t result = 0; result < kResults; ++result) {
      counters[result] =
          &answered.Add({{"command", i < commands.size() ? commands[i] : "other"}, {"result", kResultNames[result]}});
    }
  }
  auto& closed = CounterFamily(registry, "tritond_redis_connections_closed_total",
                               "Connections of the Redis port that the daemon closed, by reason.");
  constexpr std::array<const char*, kReasons> kReasonNames{"idle", "stalled", "room", "memory", "malformed"};
  for (size_t reason = 0; reason < kReasons; ++reason)
    closed_[reason] = &closed.Add({{"reason", kReasonNames[reason]}});
}

void RedisMetrics::Count(size_t command, Result result) {
  commands_[command][static_cast<size_t>(result)]->Increment();
  requests_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tritond::server
