// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/offer_window.h"

#include <algorithm>

namespace tritond::server {

void OfferWindow::CountTaken(absl::Duration stood) {
  ++taken_;
  stood_ += stood;
  fastest_ = std::min(fastest_, stood);
}

size_t OfferWindow::Update(absl::Time now) {
  if (now - looked_ < config_.look_every) return size_;
  looked_ = now;
  const absl::Duration soon = std::max(fastest_, config_.soon);
  // Of a third in this while the others may be on their way.
  if (taken_ * 3 >= size_ && stood_ < soon * config_.grow_below * taken_) size_ = std::min(size_ * 2, config_.most);
  if (taken_ > 0 && stood_ <= soon * config_.shrink_above * taken_) {
    justified_ = now;
  } else if (now - justified_ >= config_.shrink_every) {
    size_ = std::max(size_ / 2, config_.least);
    justified_ = now;
  }
  taken_ = 0;
  stood_ = absl::ZeroDuration();
  return size_;
}

}  // namespace tritond::server
