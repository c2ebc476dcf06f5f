// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/outcome_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tritond::conformance {
namespace {

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

void OutcomeTable::Add(const std::string& group, const std::string& name, const std::string& device, Outcome outcome,
                       const std::string& says) {
  AddOnce(groups_, group);
  AddOnce(devices_, device);
  auto found = std::find_if(cases_.begin(), cases_.end(),
                            [&](const Case& known) { return known.group == group && known.name == name; });
  if (found == cases_.end()) found = cases_.insert(cases_.end(), Case{group, name, {}});
  found->results[device] = {outcome, says};
}

// "41 right, 2 refused".
std::string OutcomeTable::Cell(const std::string& group, const std::string& device) const {
  std::map<Outcome, int> counts;
  for (const Case& each : cases_) {
    const auto result = each.results.find(device);
    if (each.group == group && result != each.results.end()) ++counts[result->second.outcome];
  }
  std::vector<std::string> parts;
  for (const auto& [outcome, word] :
       {std::pair(Outcome::kRight, "right"), {Outcome::kRefused, "refused"}, {Outcome::kWrong, "WRONG"}})
    if (counts[outcome] > 0) parts.push_back(absl::StrCat(counts[outcome], " ", word));
  return parts.empty() ? "–" : absl::StrJoin(parts, ", ");
}

// Cases that the same devices refuse with the same words share a line.
std::string OutcomeTable::Refusals() const {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> names;  // by devices and words
  for (const Case& each : cases_) {
    std::map<std::string, std::vector<std::string>> devices;  // by words
    for (const std::string& device : devices_) {
      const auto result = each.results.find(device);
      if (result != each.results.end() && result->second.outcome == Outcome::kRefused)
        devices[result->second.says].push_back(device);
    }
    for (const auto& [says, where] : devices) {
      const bool everywhere = where.size() == devices_.size();
      names[{everywhere ? "everywhere" : "on " + absl::StrJoin(where, ", "), says}].push_back(each.name);
    }
  }
  std::string text;
  for (const auto& [key, cases] : names)
    absl::StrAppend(&text, "- Refused ", key.first, ", \"", key.second, "\": ", absl::StrJoin(cases, ", "), "\n");
  return text;
}

std::string OutcomeTable::ToMarkdown() const {
  if (cases_.empty()) return "";
  std::string text = absl::StrCat("| | ", absl::StrJoin(devices_, " | "), " |\n|---|");
  for (size_t i = 0; i < devices_.size(); ++i) absl::StrAppend(&text, "---|");
  for (const std::string& group : groups_) {
    absl::StrAppend(&text, "\n| ", group, " |");
    for (const std::string& device : devices_) absl::StrAppend(&text, " ", Cell(group, device), " |");
  }
  const std::string refusals = Refusals();
  return absl::StrCat(text, "\n", refusals.empty() ? "" : "\n", refusals);
}

void OutcomeTable::Write() const {
  const char* path = std::getenv("TRITOND_CONFORMANCE_TABLE");
  if (path == nullptr || cases_.empty()) return;
  std::ofstream file(path, std::ios::app);
  file << ToMarkdown() << "\n";
  file.flush();
  if (!file) ADD_FAILURE() << "cannot write " << path;
}

}  // namespace tritond::conformance
