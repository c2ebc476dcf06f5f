// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HISTORY_KEPT_TEXTS_H_
#define SERVER_HISTORY_KEPT_TEXTS_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

// The latest texts by name, in memory: the oldest go when all together have more than `capacity_bytes`. Thread-safe.
class KeptTexts final {
 public:
  explicit KeptTexts(size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // In place of an earlier one of this name. A text larger than an eighth of the capacity is not kept.
  void Add(const std::string& name, std::string text);
  std::optional<std::string> Find(absl::string_view name) const;

 private:
  const size_t capacity_bytes_;
  mutable absl::Mutex mu_;
  std::deque<std::pair<std::string, std::string>> newest_first_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_HISTORY_KEPT_TEXTS_H_
