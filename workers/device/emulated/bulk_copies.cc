// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/bulk_copies.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::workers::emulated {
namespace {

std::string NoBarrier(uint64_t address) { return absl::StrCat("no mbarrier at 0x", absl::Hex(address)); }

}  // namespace

void BulkCopies::Settle(Barrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.expected;
  ++barrier.phase;
  ReleaseClocks::Join(&barrier.told, barrier.arriving);
  barrier.arriving.clear();
}

absl::optional<std::string> BulkCopies::Arrive(uint64_t address, uint64_t arrivals, int64_t expected_bytes,
                                               const ReleaseClocks::Times& released) {
  const auto it = barriers_.find(address);
  if (it == barriers_.end()) return NoBarrier(address);
  if (arrivals > it->second.pending) return std::string("more arrivals at an mbarrier than it expects");
  it->second.bytes += expected_bytes;
  it->second.pending -= arrivals;
  ReleaseClocks::Join(&it->second.arriving, released);
  Settle(it->second);
  return absl::nullopt;
}

absl::optional<std::string> BulkCopies::Expect(uint64_t address, uint64_t arrivals) {
  const auto it = barriers_.find(address);
  if (it == barriers_.end()) return NoBarrier(address);
  it->second.pending += arrivals;
  return absl::nullopt;
}

absl::optional<std::string> BulkCopies::Test(uint64_t address, uint64_t parity, bool* is_over,
                                             ReleaseClocks::Times* told) const {
  const auto it = barriers_.find(address);
  if (it == barriers_.end()) return NoBarrier(address);
  *is_over = (it->second.phase & 1) != (parity & 1);
  if (*is_over) *told = it->second.told;
  return absl::nullopt;
}

absl::optional<std::string> BulkCopies::FinishLoad() {
  const PendingLoad load = std::move(loads_.front());
  loads_.pop_front();
  if (auto fault = load.copy()) return fault;
  const auto it = barriers_.find(load.barrier);
  if (it == barriers_.end()) return NoBarrier(load.barrier);
  it->second.bytes -= load.bytes;
  Settle(it->second);
  return absl::nullopt;
}

void BulkCopies::Commit(int thread) {
  Stores& stores = stores_[thread];
  stores.groups.push_back(std::move(stores.uncommitted));
  stores.uncommitted.clear();
}

absl::optional<std::string> BulkCopies::Wait(int thread, size_t pending) {
  Stores& stores = stores_[thread];
  while (stores.groups.size() > pending) {
    for (const Copy& copy : stores.groups.front())
      if (auto fault = copy()) return fault;
    stores.groups.pop_front();
  }
  return absl::nullopt;
}

void BulkCopies::Clear() {
  barriers_.clear();
  loads_.clear();
  stores_.clear();
}

}  // namespace tritond::workers::emulated
