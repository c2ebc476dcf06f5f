// SPDX-License-Identifier: Apache-2.0
#include "server/results/hot_results.h"

#include "server/results/result_store.h"

namespace tritond::server {
namespace {

// What a result takes besides its bytes: the entry, and the parsed message.
constexpr uint64_t kOverheadBytes = 2048;

uint64_t SizeOf(const StoredResult& result) {
  uint64_t size = kOverheadBytes + 2 * result.record.size();
  for (const cache::Blob& artifact : result.artifacts) size += artifact.size();
  return size;
}

}  // namespace

HotResults::Result HotResults::Find(absl::string_view key, uint64_t* ticket) {
  absl::MutexLock lock(&mu_);
  auto it = by_key_.find(key);
  *ticket = changes_;
  if (it == by_key_.end()) return nullptr;
  latest_first_.splice(latest_first_.begin(), latest_first_, it->second);
  return it->second->result;
}

void HotResults::AddFound(const std::string& key, Result result, uint64_t ticket) {
  absl::MutexLock lock(&mu_);
  if (ticket == changes_) AddLocked(key, std::move(result));
}

void HotResults::Add(const std::string& key, Result result) {
  absl::MutexLock lock(&mu_);
  ++changes_;
  AddLocked(key, std::move(result));
}

void HotResults::AddLocked(const std::string& key, Result result) {
  const uint64_t size = SizeOf(*result);
  if (auto it = by_key_.find(key); it != by_key_.end()) RemoveLocked(it->second);
  if (size > capacity_bytes_ / 4) return;
  latest_first_.push_front({key, std::move(result), size});
  by_key_[latest_first_.front().key] = latest_first_.begin();
  size_bytes_ += size;
  while (size_bytes_ > capacity_bytes_) RemoveLocked(std::prev(latest_first_.end()));
}

void HotResults::RemoveLocked(Entries::iterator entry) {
  size_bytes_ -= entry->size_bytes;
  by_key_.erase(entry->key);
  latest_first_.erase(entry);
}

void HotResults::Forget(absl::string_view key) {
  absl::MutexLock lock(&mu_);
  ++changes_;
  if (auto it = by_key_.find(key); it != by_key_.end()) RemoveLocked(it->second);
}

void HotResults::ForgetAll() {
  absl::MutexLock lock(&mu_);
  ++changes_;
  by_key_.clear();
  latest_first_.clear();
  size_bytes_ = 0;
}

}  // namespace tritond::server
