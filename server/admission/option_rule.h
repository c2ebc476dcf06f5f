// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_OPTION_RULE_H_
#define SERVER_ADMISSION_OPTION_RULE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace tritond::server {

// Numbered as v1::OptionKind; of others nothing is known, and every value keeps them.
enum class OptionKind { kUnspecified = 0, kBoolean = 1, kInteger = 2, kPowerOfTwo = 3, kText = 4 };

// What an option may be, as a target's workers tell.
struct OptionRule {
  std::string name;
  OptionKind kind = OptionKind::kUnspecified;
  int64_t least = 0, most = 0;  // of numbers

  friend bool operator==(const OptionRule& a, const OptionRule& b) {
    return std::tie(a.name, a.kind, a.least, a.most) == std::tie(b.name, b.kind, b.least, b.most);
  }
};

// Whether `value` keeps the rule; null, which means the default, always does.
bool Keeps(const OptionRule& rule, const nlohmann::json& value);
// "must be a power of two from 1 to 32"
std::string RuleText(const OptionRule& rule);

// A list as it is kept on disk, and back. What is no rule is left out.
nlohmann::json RulesToJson(const std::vector<OptionRule>& rules);
std::vector<OptionRule> RulesFromJson(const nlohmann::json& list);

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_OPTION_RULE_H_
