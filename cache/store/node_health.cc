// SPDX-License-Identifier: Apache-2.0
#include "cache/store/node_health.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// The weight of the newest round trip: the last twenty or so count.
constexpr double kNewest = 0.1;

bool IsSilence(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }
bool IsPartial(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsResourceExhausted(status);
}

}  // namespace

NodeHealth::NodeHealth(std::string address, CircuitBreaker::Config config, CircuitBreaker::Clock clock,
                       absl::Duration remember)
    : address_(std::move(address)), clock_(clock), remember_(remember), breaker_(config, std::move(clock)) {}

absl::Status NodeHealth::Guard(absl::string_view command, const std::function<absl::Status()>& call, bool* called) {
  *called = false;
  const absl::Duration start = clock_();
  absl::Status status;
  const absl::Status gone = breaker_.Guard([&]() -> absl::Status {
    *called = true;
    status = call();
    if (status.ok() || IsPartial(status)) return absl::OkStatus();
    return absl::UnavailableError("");
  });
  if (!*called) return absl::UnavailableError(absl::StrCat("redis ", address_, ": ", gone.message()));
  const absl::Duration took = clock_() - start;
  absl::MutexLock lock(&mu_);
  ++figures_.calls;
  figures_.failures += !status.ok();
  NoteTroubleLocked(command, status);
  if (IsSilence(status)) return status;  // How long nobody answered says nothing of the answers.
  const bool first = figures_.latency == absl::ZeroDuration();
  figures_.latency = first ? took : figures_.latency * (1 - kNewest) + took * kNewest;
  NotePaceLocked();
  return status;
}

void NodeHealth::NoteTroubleLocked(absl::string_view command, const absl::Status& status) {
  const absl::Duration now = clock_();
  if (status.ok()) {
    if (figures_.trouble.empty() || now - refused_at_ < remember_) return;
    // Reads go through where writes do not: they prove nothing.
    if (refused_.empty() || refused_ == command || now - refused_at_ >= kForget) figures_.trouble.clear();
    return;
  }
  if (IsSilence(status)) {
    figures_.trouble.clear();
    return;
  }
  figures_.trouble = std::string(status.message());
  refused_ = IsPartial(status) ? std::string(command) : "";
  refused_at_ = now;
}

void NodeHealth::NotePaceLocked() {
  const absl::Duration now = clock_();
  if (figures_.latency < kSlow / 2) {
    figures_.slow = false;
    slow_since_ = absl::InfiniteDuration();
  } else if (figures_.latency > kSlow) {
    slow_since_ = std::min(slow_since_, now);
    if (now - slow_since_ >= kSlowAfter) figures_.slow = true;
  }
}

EngineNode NodeHealth::Figures() const {
  EngineNode figures;
  {
    absl::MutexLock lock(&mu_);
    figures = figures_;
  }
  figures.address = address_;
  figures.answers = answers() && figures.trouble.empty();
  return figures;
}

}  // namespace tritond::cache
