// SPDX-License-Identifier: Apache-2.0
#include "cache/store/node_health.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// The weight of the newest round trip: the last twenty or so count.
constexpr double kNewest = 0.1;

}  // namespace

NodeHealth::NodeHealth(std::string address, CircuitBreaker::Config config, CircuitBreaker::Clock clock)
    : address_(std::move(address)), clock_(clock), breaker_(config, std::move(clock)) {}

absl::Status NodeHealth::Guard(const std::function<absl::Status()>& call, bool* called) {
  *called = false;
  const absl::Duration start = clock_();
  absl::Status status = breaker_.Guard([&] {
    *called = true;
    return call();
  });
  if (!*called) return absl::UnavailableError(absl::StrCat("redis ", address_, ": ", status.message()));
  const absl::Duration took = clock_() - start;
  absl::MutexLock lock(&mu_);
  ++figures_.calls;
  figures_.failures += !status.ok();
  figures_.latency = figures_.calls == 1 ? took : figures_.latency * (1 - kNewest) + took * kNewest;
  return status;
}

EngineNode NodeHealth::Figures() const {
  EngineNode figures;
  {
    absl::MutexLock lock(&mu_);
    figures = figures_;
  }
  figures.address = address_;
  figures.answers = answers();
  return figures;
}

}  // namespace tritond::cache
