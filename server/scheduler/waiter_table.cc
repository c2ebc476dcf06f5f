// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/waiter_table.h"

namespace tritond::server {

void WaiterTable::Add(uint64_t id, Waiter waiter) {
  if (waiter.deadline != absl::InfiniteFuture()) deadlines_.emplace(waiter.deadline, id);
  waiters_[id] = std::move(waiter);
}

const Waiter* WaiterTable::Find(uint64_t id) const {
  auto it = waiters_.find(id);
  return it == waiters_.end() ? nullptr : &it->second;
}

bool WaiterTable::Extend(uint64_t id, absl::Time deadline) {
  auto it = waiters_.find(id);
  if (it == waiters_.end() || deadline <= it->second.deadline) return false;
  deadlines_.erase({it->second.deadline, id});
  it->second.deadline = deadline;
  if (deadline != absl::InfiniteFuture()) deadlines_.emplace(deadline, id);
  return true;
}

Waiter WaiterTable::Take(uint64_t id) {
  auto it = waiters_.find(id);
  Waiter taken = std::move(it->second);
  waiters_.erase(it);
  deadlines_.erase({taken.deadline, id});
  return taken;
}

std::optional<uint64_t> WaiterTable::FirstOverdue(absl::Time now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
  return deadlines_.begin()->second;
}

}  // namespace tritond::server
