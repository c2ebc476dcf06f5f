// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/release_clocks.h"

#include <algorithm>

namespace tritond::workers::emulated {

ReleaseClocks::ReleaseClocks(int threads, int warp_size)
    : warp_size_(warp_size), now_((threads + warp_size - 1) / warp_size, 1), known_(threads, now_) {}

// Times go on from one program to the next, so that marks of the last one need no clearing.
void ReleaseClocks::Clear() {
  for (uint32_t& time : now_) ++time;
  std::fill(known_.begin(), known_.end(), now_);
}

void ReleaseClocks::Release(int thread, Times* times) {
  const int warp = thread / warp_size_;
  Join(times, known_[thread]);
  (*times)[warp] = std::max((*times)[warp], ++now_[warp]);
}

void ReleaseClocks::Acquire(int thread, const Times& times) { Join(&known_[thread], times); }

void ReleaseClocks::PassWarpBarrier(int warp) {
  const auto first = known_.begin() + warp * warp_size_;
  const auto last = known_.begin() + std::min<size_t>((warp + 1) * warp_size_, known_.size());
  Times all;
  for (auto known = first; known != last; ++known) Join(&all, *known);
  std::fill(first, last, all);
}

void ReleaseClocks::Join(Times* times, const Times& more) {
  if (times->size() < more.size()) times->resize(more.size(), 0);
  for (size_t warp = 0; warp < more.size(); ++warp) (*times)[warp] = std::max((*times)[warp], more[warp]);
}

}  // namespace tritond::workers::emulated
