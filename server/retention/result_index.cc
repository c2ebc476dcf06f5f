// SPDX-License-Identifier: Apache-2.0
// A use changes a result's value but not its place in the order, so that hits stay cheap: values only grow, so the
// first in the order is the least valuable one unless it has been used since, and then it is put where it belongs.
#include "server/retention/result_index.h"

#include <algorithm>

namespace tritond::server {
namespace {

// What a result costs besides its compile: asking for it, at the least.
constexpr double kLeastCostSeconds = 0.01;

}  // namespace

double ResultIndex::ValueOf(const Entry& entry) const {
  double bytes = static_cast<double>(entry.result.size_bytes);
  for (const StoredPiece& piece : entry.result.pieces) bytes += static_cast<double>(piece.size_bytes);
  return inflation_ + entry.uses * std::max(entry.result.cost_cpu_seconds, kLeastCostSeconds) / std::max(bytes, 1.0);
}

void ResultIndex::RemoveLocked(absl::string_view key, Removal* removal) {
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  const Entry& entry = it->second;
  for (const StoredPiece& piece : entry.result.pieces) {
    auto found = pieces_.find(piece.digest);
    if (--found->second.results > 0) continue;
    size_bytes_ -= found->second.size_bytes;
    pieces_.erase(found);
    removal->digests.push_back(piece.digest);
  }
  size_bytes_ -= entry.result.size_bytes;
  order_.erase({entry.queued, it->first});
  removal->keys.push_back(it->first);
  if (entry.result.derived) {
    --derived_;
  } else {
    ++removal->asked_for;
  }
  entries_.erase(it);
}

Removal ResultIndex::Add(const IndexedResult& result) {
  absl::MutexLock lock(&mu_);
  Removal removal;
  RemoveLocked(result.key, &removal);
  removal.keys.clear();  // The key is there again.
  removal.asked_for = 0;
  for (const StoredPiece& piece : result.pieces) {
    Piece& stored = pieces_[piece.digest];
    if (stored.results++ > 0) {
      deduplicated_ += result.derived ? 0 : 1;
      continue;
    }
    stored.size_bytes = piece.size_bytes;
    size_bytes_ += piece.size_bytes;
  }
  const auto is_named = [&](const std::string& digest)
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pieces_.contains(digest); };
  removal.digests.erase(std::remove_if(removal.digests.begin(), removal.digests.end(), is_named),
                        removal.digests.end());
  size_bytes_ += result.size_bytes;
  derived_ += result.derived ? 1 : 0;
  Entry& entry = entries_[result.key];
  entry.result = result;
  entry.value = entry.queued = ValueOf(entry);
  order_.emplace(entry.queued, result.key);
  return removal;
}

void ResultIndex::Touch(absl::string_view key) {
  absl::MutexLock lock(&mu_);
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  ++it->second.uses;
  it->second.value = ValueOf(it->second);
}

Removal ResultIndex::Remove(const std::vector<std::string>& keys) {
  absl::MutexLock lock(&mu_);
  Removal removal;
  for (const std::string& key : keys) RemoveLocked(key, &removal);
  return removal;
}

Removal ResultIndex::RemoveAll() { return Shrink(0); }

Removal ResultIndex::Shrink(uint64_t limit_bytes, absl::string_view spared) {
  absl::MutexLock lock(&mu_);
  Removal removal;
  while (!order_.empty() && (size_bytes_ > limit_bytes || limit_bytes == 0)) {
    auto first = order_.begin();
    if (first->second == spared && order_.size() > 1) ++first;
    const std::string key = first->second;
    Entry& entry = entries_[key];
    if (entry.value > entry.queued) {
      order_.erase(first);
      entry.queued = entry.value;
      order_.emplace(entry.queued, key);
      continue;
    }
    inflation_ = std::max(inflation_, entry.value);
    RemoveLocked(key, &removal);
  }
  return removal;
}

bool ResultIndex::Names(absl::string_view digest) const {
  absl::MutexLock lock(&mu_);
  return pieces_.contains(digest);
}

uint64_t ResultIndex::size_bytes() const {
  absl::MutexLock lock(&mu_);
  return size_bytes_;
}

size_t ResultIndex::size() const {
  absl::MutexLock lock(&mu_);
  return entries_.size();
}

size_t ResultIndex::asked_for() const {
  absl::MutexLock lock(&mu_);
  return entries_.size() - derived_;
}

uint64_t ResultIndex::deduplicated() const {
  absl::MutexLock lock(&mu_);
  return deduplicated_;
}

std::vector<std::string> ResultIndex::Keys() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace tritond::server
