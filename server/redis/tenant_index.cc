// SPDX-License-Identifier: Apache-2.0
#include "server/redis/tenant_index.h"

#include <algorithm>
#include <limits>

namespace tritond::server {

void TenantIndex::Add(const std::string& tenant, const IndexedResult& value) {
  absl::MutexLock lock(&mu_);
  ResultIndex& index = tenants_[tenant];
  index.Add(value);
  owners_[value.key] = &index;
}

void TenantIndex::Touch(const cache::Digest& key) {
  absl::MutexLock lock(&mu_);
  if (auto owner = owners_.find(key); owner != owners_.end()) owner->second->Touch(key);
}

void TenantIndex::Remove(const cache::Digest& key) {
  absl::MutexLock lock(&mu_);
  auto owner = owners_.find(key);
  if (owner == owners_.end()) return;
  owner->second->Remove({key});
  owners_.erase(owner);
}

// From the smallest tenant on: each has what it stores, or an equal part of what the smaller ones leave.
uint64_t TenantIndex::ShareOfEach() const {
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  if (limits_.all == 0) return kAny;
  std::vector<uint64_t> sizes;
  for (const auto& [tenant, index] : tenants_) sizes.push_back(index.size_bytes());
  std::sort(sizes.begin(), sizes.end());
  uint64_t left = limits_.all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t share = left / (sizes.size() - i);
    if (sizes[i] > share) return share;
    left -= sizes[i];
  }
  return kAny;
}

std::vector<cache::Digest> TenantIndex::Shrink() {
  absl::MutexLock lock(&mu_);
  uint64_t most = ShareOfEach();
  if (limits_.tenant > 0) most = std::min(most, limits_.tenant);
  std::vector<cache::Digest> gone;
  for (auto& [tenant, index] : tenants_) {
    if (index.size_bytes() <= most) continue;
    const std::vector<cache::Digest> keys = index.Shrink(most, /*spare_latest=*/true).keys;
    for (const cache::Digest& key : keys) owners_.erase(key);
    gone.insert(gone.end(), keys.begin(), keys.end());
  }
  return gone;
}

bool TenantIndex::Has(const cache::Digest& key) const {
  absl::MutexLock lock(&mu_);
  return owners_.contains(key);
}

size_t TenantIndex::size() const {
  absl::MutexLock lock(&mu_);
  return owners_.size();
}

uint64_t TenantIndex::size_bytes() const {
  absl::MutexLock lock(&mu_);
  uint64_t sum = 0;
  for (const auto& [tenant, index] : tenants_) sum += index.size_bytes();
  return sum;
}

}  // namespace tritond::server
