// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/agreement.h"

#include <algorithm>

namespace tritond::server {

void Agreement::Add(size_t candidate) {
  for (std::vector<size_t>& group : groups_) {
    if (agrees_(group.front(), candidate)) return group.push_back(candidate);
  }
  groups_.push_back({candidate});
}

const std::vector<size_t>& Agreement::Right() const {
  static const std::vector<size_t> kNone;
  const std::vector<size_t>* right = &kNone;
  for (const std::vector<size_t>& group : groups_) {
    const bool first = !right->empty() && group.size() == right->size() &&
                       *std::min_element(group.begin(), group.end()) < *std::min_element(right->begin(), right->end());
    if (group.size() > right->size() || first) right = &group;
  }
  return *right;
}

std::vector<size_t> Agreement::Wrong() const {
  const std::vector<size_t>& right = Right();
  std::vector<size_t> wrong;
  for (const std::vector<size_t>& group : groups_) {
    if (&group != &right) wrong.insert(wrong.end(), group.begin(), group.end());
  }
  std::sort(wrong.begin(), wrong.end());
  return wrong;
}

bool Agreement::IsTied() const {
  const size_t size = Right().size();
  return std::count_if(groups_.begin(), groups_.end(), [&](const auto& group) { return group.size() == size; }) > 1;
}

}  // namespace tritond::server
