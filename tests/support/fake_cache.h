// SPDX-License-Identifier: Apache-2.0
// A cache that is a map, for tests of those who use one. Not thread-safe.
#ifndef TESTS_SUPPORT_FAKE_CACHE_H_
#define TESTS_SUPPORT_FAKE_CACHE_H_

#include <map>
#include <vector>

#include "cache/api/cache.h"

namespace tritond::tests {

class FakeCache final : public cache::Cache {
 public:
  std::map<cache::Digest, cache::Blob> entries;
  bool full = false;  // takes nothing more

  absl::StatusOr<cache::Blob> Get(const cache::Digest& key) override {
    auto it = entries.find(key);
    if (it == entries.end()) return absl::NotFoundError("absent");
    return it->second;
  }
  absl::Status Put(const cache::Digest& key, cache::Blob value) override {
    if (full) return absl::ResourceExhaustedError("full");
    entries[key] = std::move(value);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<cache::Digest>> FindMissing(absl::Span<const cache::Digest> keys) override {
    std::vector<cache::Digest> missing;
    for (const cache::Digest& key : keys)
      if (entries.count(key) == 0) missing.push_back(key);
    return missing;
  }
  absl::Status Remove(const cache::Digest& key) override {
    entries.erase(key);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<cache::Digest>> List() override {
    std::vector<cache::Digest> keys;
    for (const auto& [key, value] : entries) keys.push_back(key);
    return keys;
  }
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_FAKE_CACHE_H_
