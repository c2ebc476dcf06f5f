// SPDX-License-Identifier: Apache-2.0
#include "server/history/kept_texts.h"

#include <algorithm>

namespace tritond::server {

void KeptTexts::Add(const std::string& name, std::string text) {
  if (text.size() > capacity_bytes_ / 8) return;
  absl::MutexLock lock(&mu_);
  auto known =
      std::find_if(newest_first_.begin(), newest_first_.end(), [&](const auto& one) { return one.first == name; });
  if (known != newest_first_.end()) {
    bytes_ -= known->second.size();
    newest_first_.erase(known);
  }
  bytes_ += text.size();
  newest_first_.emplace_front(name, std::move(text));
  while (bytes_ > capacity_bytes_) {
    bytes_ -= newest_first_.back().second.size();
    newest_first_.pop_back();
  }
}

std::optional<std::string> KeptTexts::Find(absl::string_view name) const {
  absl::MutexLock lock(&mu_);
  for (const auto& [known, text] : newest_first_) {
    if (known == name) return text;
  }
  return std::nullopt;
}

}  // namespace tritond::server
