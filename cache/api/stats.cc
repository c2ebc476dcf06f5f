// SPDX-License-Identifier: Apache-2.0
#include "cache/api/stats.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tritond::cache {
namespace {

std::string DescribeAll(const std::vector<EngineNode>& nodes) {
  std::set<std::string> troubles;
  for (const EngineNode& node : nodes) {
    if (!node.trouble.empty()) troubles.insert(node.trouble);
  }
  if (troubles.empty()) return "the cluster's engine does not answer; this daemon goes on alone";
  return absl::StrCat("the cluster's engine does not answer as it should (", absl::StrJoin(troubles, "; "),
                      "); what is compiled here is not shared");
}

}  // namespace

std::string DescribeTrouble(const std::vector<EngineNode>& nodes) {
  if (!SomeAnswer(nodes)) return DescribeAll(nodes);
  std::vector<std::string> away;
  for (const EngineNode& node : nodes) {
    if (node.answers) continue;
    away.push_back(node.trouble.empty() ? node.address : absl::StrCat(node.address, " (", node.trouble, ")"));
  }
  std::vector<std::string> parts;
  if (!away.empty()) {
    parts.push_back(absl::StrCat("of the cluster's engine ", absl::StrJoin(away, ", "),
                                 away.size() == 1 ? " does" : " do",
                                 " not answer; kernels whose keys lie there are not shared"));
  }
  const std::vector<std::string> slow = NodesSlow(nodes);
  if (!slow.empty()) {
    parts.push_back(absl::StrCat("the cluster's engine is slow at ", absl::StrJoin(slow, ", "),
                                 "; kernels that must be compiled wait for it"));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace tritond::cache
