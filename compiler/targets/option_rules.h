// SPDX-License-Identifier: Apache-2.0
// What a target takes as options, as data: whoever checks a request, here or in the daemon, goes by these rules.
#ifndef COMPILER_TARGETS_OPTION_RULES_H_
#define COMPILER_TARGETS_OPTION_RULES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tritond::compiler {

enum class OptionKind { kBoolean, kInteger, kPowerOfTwo, kText };

struct OptionRule {
  std::string name;
  OptionKind kind = OptionKind::kInteger;
  int64_t least = 0, most = 0;  // of numbers
};

// InvalidArgument, naming the option, its value and what is allowed, where `value` breaks the rule.
absl::Status CheckOption(const OptionRule& rule, const nlohmann::json& value);

// The options that one target has and others need not, by name. What is not set has the default that the target reads
// it with.
class OwnOptions final {
 public:
  // `value` keeps the rule of the option `name`.
  void Set(const std::string& name, nlohmann::json value) { values_[name] = std::move(value); }

  int Integer(const std::string& name, int otherwise) const { return values_.value(name, otherwise); }
  bool Boolean(const std::string& name, bool otherwise) const { return values_.value(name, otherwise); }
  std::string Text(const std::string& name) const { return values_.value(name, std::string()); }

 private:
  nlohmann::json values_ = nlohmann::json::object();
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_OPTION_RULES_H_
