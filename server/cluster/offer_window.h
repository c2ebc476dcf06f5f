// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_OFFER_WINDOW_H_
#define SERVER_CLUSTER_OFFER_WINDOW_H_

#include <cstddef>

#include "absl/time/time.h"

namespace tritond::server {

// How many jobs of one kind are to be on offer at once: as few as keep the takers busy. A job on offer has had its
// turn, and later ones stand after it. It doubles while most are taken as soon as they are made, and halves while they
// stand for long, or nothing is taken. How soon that is depends on the engine: the fastest one tells. Not thread-safe.
class OfferWindow final {
 public:
  struct Config {
    size_t first = 8, least = 2, most = 64;
    absl::Duration look_every = absl::Milliseconds(200);
    absl::Duration shrink_every = absl::Seconds(1);
    absl::Duration soon = absl::Milliseconds(100);  // at least what the fastest one is taken to have stood
    double grow_below = 2, shrink_above = 4;        // of what the fastest one has stood
  };

  OfferWindow(const Config& config, absl::Time now)
      : config_(config), size_(config.first), looked_(now), justified_(now) {}

  // One was seen to be taken that had stood for so long.
  void CountTaken(absl::Duration stood);
  // The size from now on.
  size_t Update(absl::Time now);

 private:
  Config config_;
  size_t size_;
  absl::Duration fastest_ = absl::InfiniteDuration();
  // Since it was last looked at:
  size_t taken_ = 0;
  absl::Duration stood_;  // all of these together

  absl::Time looked_;
  absl::Time justified_;  // when it was last as it should be, or shrank
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_OFFER_WINDOW_H_
