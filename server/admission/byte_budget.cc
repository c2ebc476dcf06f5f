// SPDX-License-Identifier: Apache-2.0
#include "server/admission/byte_budget.h"

#include <algorithm>

namespace tritond::server {

ByteBudget::Hold& ByteBudget::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  Release();
  budget_ = other.budget_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

ByteBudget::Hold ByteBudget::Hold::Split(uint64_t bytes) {
  const uint64_t part = std::min(bytes, bytes_);
  bytes_ -= part;
  return Hold(budget_, part);
}

void ByteBudget::Hold::Release() {
  if (bytes_ == 0) return;
  absl::MutexLock lock(&budget_->mu_);
  budget_->held_ -= std::exchange(bytes_, 0);
}

bool ByteBudget::HasRoomLocked(uint64_t bytes) const {
  return limit_ == 0 || held_ == 0 || (bytes <= limit_ && held_ <= limit_ - bytes);
}

std::optional<ByteBudget::Hold> ByteBudget::Hold::Of(ByteBudget& budget, uint64_t bytes) {
  absl::MutexLock lock(&budget.mu_);
  if (!budget.HasRoomLocked(bytes)) return std::nullopt;
  budget.held_ += bytes;
  return Hold(&budget, bytes);
}

bool ByteBudget::HasRoom(uint64_t bytes) const {
  absl::MutexLock lock(&mu_);
  return HasRoomLocked(bytes);
}

uint64_t ByteBudget::held() const {
  absl::MutexLock lock(&mu_);
  return held_;
}

}  // namespace tritond::server
