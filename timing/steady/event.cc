// SPDX-License-Identifier: Apache-2.0
// The standard library's condition variable, since it can wait by CLOCK_MONOTONIC.
#include "timing/steady/event.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tritond::timing {
namespace {

// As good as for ever, and far from the end of what the clock can count.
constexpr absl::Duration kLongest = absl::Hours(24 * 365);

}  // namespace

void Event::Set() {
  const std::lock_guard<std::mutex> lock(mu_);
  set_ = true;
  changed_.notify_one();
}

bool Event::WaitFor(absl::Duration limit) {
  const auto until =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(std::clamp(limit, absl::ZeroDuration(), kLongest));
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait_until(lock, until, [this] { return set_; });
  return std::exchange(set_, false);
}

}  // namespace tritond::timing
