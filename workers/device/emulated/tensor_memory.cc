// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/tensor_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "workers/device/emulated/instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kGroups = TensorMemory::kLanes / TensorMemory::kGroupLanes;
constexpr int kLeastColumns = 32, kMostThreads = 1024;
// As in shared memory: what no sane kernel makes.
constexpr uint32_t kPattern = 0x7f7f7f7f;

}  // namespace

bool TensorMemory::Clear() {
  const bool is_free = std::all_of(sizes_.begin(), sizes_.end(), [](int size) { return size == 0; });
  words_.clear();
  records_.clear();
  sizes_.clear();
  needs_fence_.clear();
  products_.clear();
  may_allocate_ = true;
  return is_free;
}

TensorMemory::Fault TensorMemory::Allocate(int columns, int* column) {
  if (columns < kLeastColumns || columns > kColumns || (columns & (columns - 1)) != 0)
    return absl::StrCat("an allocation of ", columns, " columns of tensor memory, no power of two from 32 to 512");
  if (!may_allocate_) return std::string("an allocation of tensor memory after the permit was relinquished");
  if (words_.empty()) {
    words_.assign(kLanes * kColumns, kPattern);
    records_.resize(kGroups * kColumns);
    sizes_.resize(kColumns);
    needs_fence_.resize(kMostThreads);
  }
  // From the end: a kernel that takes its first column to be 0 is wrong.
  for (*column = kColumns - columns; *column >= 0; *column -= columns) {
    const auto begin = sizes_.begin() + *column;
    if (std::any_of(begin, begin + columns, [](int size) { return size != 0; })) continue;
    std::fill(begin, begin + columns, columns);
    return absl::nullopt;
  }
  return absl::StrCat("no ", columns, " columns of tensor memory are free: the block would wait forever");
}

TensorMemory::Fault TensorMemory::Free(int column, int columns) {
  if (sizes_.empty() || column < 0 || column >= kColumns || column % columns != 0 || sizes_[column] != columns)
    return absl::StrCat("no ", columns, " columns of tensor memory are allocated at column ", column);
  const Fault fault = ForEach({0, kGroups, 1, column, columns}, [](Record& record) -> Fault {
    const auto goes_on = [](const Touch& touch) { return touch.exists && !touch.has_ended; };
    if (record.products > 0 || goes_on(record.read) || goes_on(record.write))
      return std::string("tensor memory is given back while it is accessed");
    record = Record();
    return absl::nullopt;
  });
  std::fill_n(sizes_.begin() + column, columns, 0);
  return fault;
}

TensorMemory::Fault TensorMemory::ForEach(const Region& region, const std::function<Fault(Record&)>& visit) {
  for (int g = 0; g < region.groups; ++g)
    for (int c = 0; c < region.columns; ++c)
      if (Fault fault = visit(records_[(region.first_group + g * region.group_step) * kColumns + region.column + c]))
        return fault;
  return absl::nullopt;
}

TensorMemory::Fault TensorMemory::CheckAllocated(const Region& region) const {
  const int last_group = region.first_group + (region.groups - 1) * region.group_step;
  bool fits = !sizes_.empty() && last_group < kGroups && region.column + region.columns <= kColumns;
  for (int c = 0; fits && c < region.columns; ++c) fits = sizes_[region.column + c] != 0;
  if (fits) return absl::nullopt;
  return absl::StrCat("columns ", region.column, " to ", region.column + region.columns - 1,
                      " of tensor memory are not all allocated");
}

TensorMemory::Fault TensorMemory::CheckAfter(Machine& machine, int thread, const Touch& touch, const char* what) const {
  if (!touch.exists) return absl::nullopt;
  if (!touch.has_ended) return absl::StrCat(what, ", which no tcgen05.wait has ended");
  if (!touch.by_product && touch.when.warp == thread / kWarpLanes) return absl::nullopt;
  if (!touch.is_published) return absl::StrCat(what, " without a tcgen05.fence::before_thread_sync after the latter");
  if (!machine.Knows(thread, touch.when)) return absl::StrCat(what, " with nothing that orders the two");
  if (NeedsFence(thread)) return absl::StrCat(what, " without a tcgen05.fence::after_thread_sync before the former");
  return absl::nullopt;
}

TensorMemory::Fault TensorMemory::Access(Machine& machine, int thread, const Region& region, bool writes) {
  if (Fault fault = CheckAllocated(region)) return fault;
  Touch touch;
  touch.when = machine.Now(thread);
  touch.exists = true;
  return ForEach(region, [&](Record& record) -> Fault {
    if (record.products > 0)
      return std::string("access to tensor memory that a tcgen05.mma in flight writes: nothing has waited for it");
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (Fault fault = CheckAfter(machine, thread + lane, record.write, "access to tensor memory after a write"))
        return fault;
    (writes ? record.write : record.read) = touch;
    return absl::nullopt;
  });
}

TensorMemory::Fault TensorMemory::Load(Machine& machine, int thread, const Region& region) {
  return Access(machine, thread, region, /*writes=*/false);
}

TensorMemory::Fault TensorMemory::Store(Machine& machine, int thread, const Region& region) {
  return Access(machine, thread, region, /*writes=*/true);
}

void TensorMemory::End(int warp, Touch Record::*touch) {
  for (Record& record : records_) {
    Touch& one = record.*touch;
    if (one.exists && one.when.warp == warp && !one.by_product) one.has_ended = true;
  }
}

TensorMemory::Fault TensorMemory::Issue(Machine& machine, int thread, const Region& region,
                                        std::function<Fault()> compute) {
  if (Fault fault = CheckAllocated(region)) return fault;
  const Fault fault = ForEach(region, [&](Record& record) -> Fault {
    // Products of one shape on the same accumulators are in order.
    if (!record.write.by_product)
      if (Fault wrong = CheckAfter(machine, thread, record.write, "a tcgen05.mma after a write")) return wrong;
    if (Fault wrong = CheckAfter(machine, thread, record.read, "a tcgen05.mma after a read")) return wrong;
    ++record.products;
    return absl::nullopt;
  });
  Products& products = products_[thread];
  products.pending.emplace_back(region, std::move(compute));
  ++products.issued;
  return fault;
}

TensorMemory::Fault TensorMemory::Finish(Machine& machine, int thread, uint64_t count) {
  Products& products = products_[thread];
  for (; products.finished < count; ++products.finished) {
    const auto [region, compute] = std::move(products.pending.front());
    products.pending.pop_front();
    if (Fault fault = compute()) return fault;
    Touch touch;
    touch.when = machine.Now(thread);
    touch.exists = touch.by_product = touch.has_ended = touch.is_published = true;
    ForEach(region, [&](Record& record) -> Fault {
      --record.products;
      record.write = touch;
      return absl::nullopt;
    });
  }
  return absl::nullopt;
}

void TensorMemory::FenceBefore(int thread) {
  for (Record& record : records_)
    for (Touch* touch : {&record.read, &record.write})
      if (touch->exists && touch->when.warp == thread / kWarpLanes && touch->has_ended) touch->is_published = true;
}

void TensorMemory::Mark(int thread, bool needs) {
  if (thread < static_cast<int>(needs_fence_.size())) needs_fence_[thread] = needs;
}

}  // namespace tritond::workers::emulated
