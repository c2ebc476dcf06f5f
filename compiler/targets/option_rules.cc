// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/option_rules.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

std::string Allowed(const OptionRule& rule) {
  switch (rule.kind) {
    case OptionKind::kBoolean:
      return "true or false";
    case OptionKind::kText:
      return "a string";
    case OptionKind::kInteger:
    case OptionKind::kPowerOfTwo:
      break;
  }
  if (rule.least == rule.most) return absl::StrCat(rule.least);
  return absl::StrCat(rule.kind == OptionKind::kInteger ? "an integer" : "a power of two", " from ", rule.least, " to ",
                      rule.most);
}

bool Keeps(const OptionRule& rule, const nlohmann::json& value) {
  if (rule.kind == OptionKind::kBoolean) return value.is_boolean();
  if (rule.kind == OptionKind::kText) return value.is_string();
  if (!value.is_number_integer()) return false;
  const int64_t number = value.get<int64_t>();
  if (number < rule.least || number > rule.most) return false;
  return rule.kind == OptionKind::kInteger || (number & (number - 1)) == 0;
}

}  // namespace

absl::Status CheckOption(const OptionRule& rule, const nlohmann::json& value) {
  if (Keeps(rule, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("option ", rule.name, " = ", value.dump(), ": must be ", Allowed(rule)));
}

}  // namespace tritond::compiler
