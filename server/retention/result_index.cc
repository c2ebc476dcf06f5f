// SPDX-License-Identifier: Apache-2.0
// A use changes a result's value but not its place in the order, so that hits stay cheap. Values only grow, so the
// first in the order is the least valuable one, unless it has been used since. Then it is put where it belongs.
#include "server/retention/result_index.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace tritond::server {
namespace {

// What a result costs besides its compile: asking for it, at the least.
constexpr double kLeastCostSeconds = 0.01;
// Of the results that came lately.
constexpr size_t kLatest = 64;

double WorthOf(const IndexedResult& result) {
  double bytes = static_cast<double>(result.size_bytes);
  for (const StoredPiece& piece : result.pieces) bytes += static_cast<double>(piece.size_bytes);
  return std::max(result.cost_cpu_seconds, kLeastCostSeconds) / std::max(bytes, 1.0);
}

}  // namespace

double ResultIndex::ValueOf(const Entry& entry) const { return inflation_ + entry.uses * entry.worth; }

void ResultIndex::RemoveLocked(const cache::Digest& key, Removal* removal) {
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  const Entry& entry = it->second;
  for (const cache::Digest& digest : entry.pieces) {
    auto found = pieces_.find(digest);
    if (--found->second.results > 0) continue;
    size_bytes_ -= found->second.size_bytes;
    pieces_.erase(found);
    removal->digests.push_back(digest);
  }
  size_bytes_ -= entry.size_bytes;
  order_.erase({entry.queued, it->first});
  removal->keys.push_back(it->first);
  if (entry.derived) {
    --derived_;
  } else {
    ++removal->asked_for;
  }
  if (entry.build != builds_.end() && --entry.build->second.results == 0) builds_.erase(entry.build);
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
  const auto is_named = [&](const cache::Digest& digest)
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pieces_.contains(digest); };
  removal.digests.erase(std::remove_if(removal.digests.begin(), removal.digests.end(), is_named),
                        removal.digests.end());
  size_bytes_ += result.size_bytes;
  derived_ += result.derived ? 1 : 0;
  Entry& entry = entries_[result.key];
  entry.pieces.reserve(result.pieces.size());
  for (const StoredPiece& piece : result.pieces) entry.pieces.push_back(piece.digest);
  entry.size_bytes = result.size_bytes;
  entry.worth = WorthOf(result);
  entry.derived = result.derived;
  entry.build = builds_.end();
  if (!result.derived && !result.target.empty() && !result.build_id.empty()) {
    entry.build = builds_.try_emplace({result.target, result.build_id}).first;
    ++entry.build->second.results;
    entry.build->second.newest = std::max(entry.build->second.newest, result.created);
  }
  entry.value = entry.queued = ValueOf(entry);
  order_.emplace(entry.queued, result.key);
  latest_.erase(std::remove(latest_.begin(), latest_.end(), result.key), latest_.end());
  latest_.push_back(result.key);
  if (latest_.size() > kLatest) latest_.pop_front();
  return removal;
}

void ResultIndex::Touch(const cache::Digest& key) {
  absl::MutexLock lock(&mu_);
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  ++it->second.uses;
  it->second.value = ValueOf(it->second);
}

Removal ResultIndex::Remove(const std::vector<cache::Digest>& keys) {
  absl::MutexLock lock(&mu_);
  Removal removal;
  for (const cache::Digest& key : keys) RemoveLocked(key, &removal);
  return removal;
}

Removal ResultIndex::RemoveAll() { return Shrink(0); }

absl::flat_hash_set<cache::Digest> ResultIndex::LatestLocked(uint64_t limit_bytes) const {
  absl::flat_hash_set<cache::Digest> latest;
  uint64_t bytes = 0;
  bool has_asked_for = false;
  for (auto key = latest_.rbegin(); key != latest_.rend(); ++key) {
    const auto it = entries_.find(*key);
    if (it == entries_.end()) continue;
    bytes += it->second.size_bytes;
    for (const cache::Digest& digest : it->second.pieces) bytes += pieces_.at(digest).size_bytes;
    if (has_asked_for && bytes > limit_bytes / 8) break;
    latest.insert(*key);
    has_asked_for |= !it->second.derived;
  }
  return latest;
}

Removal ResultIndex::Shrink(uint64_t limit_bytes, bool spare_latest) {
  absl::MutexLock lock(&mu_);
  Removal removal;
  if (size_bytes_ <= limit_bytes && limit_bytes > 0) return removal;
  const absl::flat_hash_set<cache::Digest> spared =
      spare_latest ? LatestLocked(limit_bytes) : absl::flat_hash_set<cache::Digest>();
  while (size_bytes_ > limit_bytes || limit_bytes == 0) {
    const auto first =
        std::find_if(order_.begin(), order_.end(), [&](const auto& queued) { return !spared.contains(queued.second); });
    if (first == order_.end()) break;
    const cache::Digest key = first->second;
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

bool ResultIndex::Names(const cache::Digest& digest) const {
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

std::vector<cache::Digest> ResultIndex::Keys() const {
  absl::MutexLock lock(&mu_);
  std::vector<cache::Digest> keys;
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> ResultIndex::KeysWithPrefix(absl::string_view prefix, size_t limit) const {
  absl::MutexLock lock(&mu_);
  std::set<std::string> found;
  for (const auto& [key, entry] : entries_) {
    if (entry.derived) continue;
    std::string hex = key.ToHex();
    if (!absl::StartsWith(hex, prefix)) continue;
    found.insert(std::move(hex));
    if (found.size() > limit) found.erase(std::prev(found.end()));
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> ResultIndex::Builds(absl::string_view target) const {
  absl::MutexLock lock(&mu_);
  std::vector<BuildMap::const_iterator> found;
  for (auto it = builds_.lower_bound({std::string(target), ""}); it != builds_.end() && it->first.first == target; ++it)
    found.push_back(it);
  std::stable_sort(found.begin(), found.end(), [](BuildMap::const_iterator a, BuildMap::const_iterator b) {
    return a->second.newest > b->second.newest;
  });
  std::vector<std::string> builds;
  for (const auto& it : found) builds.push_back(it->first.second);
  return builds;
}

std::vector<std::string> ResultIndex::Targets() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> targets;
  for (const auto& [name, build] : builds_) {
    if (targets.empty() || targets.back() != name.first) targets.push_back(name.first);
  }
  return targets;
}

}  // namespace tritond::server
