// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/bulk_copies.h"

#include <algorithm>
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

absl::optional<std::string> BulkCopies::Wait(int thread, size_t pending, bool reads_only) {
  Stores& stores = stores_[thread];
  for (; stores.groups.size() > pending + stores.read; ++stores.read)
    for (const PendingStore& store : stores.groups[stores.read])
      if (auto fault = store.read()) return fault;
  if (reads_only) return absl::nullopt;
  for (; stores.groups.size() > pending; --stores.read) {
    for (const PendingStore& store : stores.groups.front())
      if (auto fault = store.write()) return fault;
    stores.groups.pop_front();
  }
  return absl::nullopt;
}

absl::optional<std::string> BulkCopies::FinishStores() {
  for (auto& [thread, stores] : stores_) {
    const auto is_empty = [](const Group& group) { return group.empty(); };
    if (!stores.uncommitted.empty() || !std::all_of(stores.groups.begin() + stores.read, stores.groups.end(), is_empty))
      return absl::StrCat("the program ends while a bulk copy of thread ", thread, " reads its shared memory");
    for (; !stores.groups.empty(); stores.groups.pop_back())
      for (auto store = stores.groups.back().rbegin(); store != stores.groups.back().rend(); ++store)
        if (auto fault = store->write()) return fault;
  }
  stores_.clear();
  return absl::nullopt;
}

void BulkCopies::Clear() {
  barriers_.clear();
  loads_.clear();
  stores_.clear();
}

}  // namespace tritond::workers::emulated
