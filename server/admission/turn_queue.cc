// SPDX-License-Identifier: Apache-2.0
#include "server/admission/turn_queue.h"

#include <algorithm>

namespace tritond::server {

void TurnQueue::Push(const std::string& caller, uint64_t id, uint64_t cost) {
  Caller& queue = callers_[caller];
  if (queue.items.empty()) {
    idle_.erase({queue.start, caller});
    queue.start = std::max(queue.start, now_);
    turns_.emplace(queue.start, caller);
  }
  queue.items.push_back({id, cost});
  caller_of_[id] = caller;
}

std::optional<uint64_t> TurnQueue::Pop() {
  if (turns_.empty()) return std::nullopt;
  const Turn turn = *turns_.begin();
  turns_.erase(turns_.begin());
  now_ = turn.first;
  Caller& queue = callers_[turn.second];
  const Item item = queue.items.front();
  queue.items.pop_front();
  caller_of_.erase(item.id);
  queue.start += item.cost;
  (queue.items.empty() ? idle_ : turns_).emplace(queue.start, turn.second);
  ForgetIdle();
  return item.id;
}

bool TurnQueue::Remove(uint64_t id) {
  auto found = caller_of_.find(id);
  if (found == caller_of_.end()) return false;
  Caller& queue = callers_[found->second];
  queue.items.erase(
      std::find_if(queue.items.begin(), queue.items.end(), [id](const Item& item) { return item.id == id; }));
  if (queue.items.empty()) {
    turns_.erase({queue.start, found->second});
    idle_.emplace(queue.start, found->second);
  }
  caller_of_.erase(found);
  ForgetIdle();
  return true;
}

void TurnQueue::ForgetIdle() {
  while (!idle_.empty() && (idle_.begin()->first <= now_ || idle_.size() > kMostIdle)) {
    callers_.erase(idle_.begin()->second);
    idle_.erase(idle_.begin());
  }
}

}  // namespace tritond::server
