// SPDX-License-Identifier: Apache-2.0
#include "server/admission/option_rule.h"

#include "absl/strings/str_cat.h"

namespace tritond::server {

bool Keeps(const OptionRule& rule, const nlohmann::json& value) {
  if (value.is_null()) return true;
  switch (rule.kind) {
    case OptionKind::kBoolean:
      return value.is_boolean();
    case OptionKind::kText:
      return value.is_string();
    case OptionKind::kInteger:
    case OptionKind::kPowerOfTwo:
      break;
    default:
      return true;
  }
  if (!value.is_number_integer()) return false;
  const int64_t number = value.get<int64_t>();
  if (number < rule.least || number > rule.most) return false;
  return rule.kind == OptionKind::kInteger || (number & (number - 1)) == 0;
}

std::string RuleText(const OptionRule& rule) {
  if (rule.kind == OptionKind::kBoolean) return "must be true or false";
  if (rule.kind == OptionKind::kText) return "must be a string";
  if (rule.least == rule.most) return absl::StrCat("must be ", rule.least);
  return absl::StrCat("must be ", rule.kind == OptionKind::kInteger ? "an integer" : "a power of two", " from ",
                      rule.least, " to ", rule.most);
}

nlohmann::json RulesToJson(const std::vector<OptionRule>& rules) {
  nlohmann::json list = nlohmann::json::array();
  for (const OptionRule& rule : rules)
    list.push_back(
        {{"name", rule.name}, {"kind", static_cast<int>(rule.kind)}, {"least", rule.least}, {"most", rule.most}});
  return list;
}

std::vector<OptionRule> RulesFromJson(const nlohmann::json& list) {
  std::vector<OptionRule> rules;
  if (!list.is_array()) return rules;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    const auto number = [&](const char* field) {
      return entry.contains(field) && entry[field].is_number_integer() ? entry[field].get<int64_t>() : 0;
    };
    rules.push_back({entry["name"], static_cast<OptionKind>(number("kind")), number("least"), number("most")});
  }
  return rules;
}

}  // namespace tritond::server
