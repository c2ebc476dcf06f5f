// SPDX-License-Identifier: Apache-2.0
#include "server/admission/option_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using nlohmann::json;

TEST(OptionRule, TellsWhatKeepsIt) {
  struct Case {
    OptionRule rule;
    std::vector<json> good, bad;
  };
  for (const Case& c :
       {Case{{"n", OptionKind::kInteger, 0, 64}, {0, 3, 64, nullptr}, {-1, 65, 2.0, "3", true, json::array()}},
        Case{{"n", OptionKind::kPowerOfTwo, 1, 32}, {1, 2, 32, nullptr}, {0, 3, 64, -2, 4.0}},
        Case{{"n", OptionKind::kPowerOfTwo, 64, 64}, {64}, {32, 128}},
        Case{{"n", OptionKind::kBoolean}, {true, false, nullptr}, {0, 1, "true"}},
        Case{{"n", OptionKind::kText}, {"", "x", nullptr}, {1, json::object()}},
        Case{{"n", static_cast<OptionKind>(9)}, {1, "x", true}, {}}}) {
    for (const json& value : c.good) EXPECT_TRUE(Keeps(c.rule, value)) << RuleText(c.rule) << " " << value;
    for (const json& value : c.bad) EXPECT_FALSE(Keeps(c.rule, value)) << RuleText(c.rule) << " " << value;
  }
  EXPECT_EQ(RuleText({"n", OptionKind::kPowerOfTwo, 1, 32}), "must be a power of two from 1 to 32");
  EXPECT_EQ(RuleText({"n", OptionKind::kPowerOfTwo, 64, 64}), "must be 64");
}

TEST(OptionRule, ListsComeBackFromDisk) {
  const std::vector<OptionRule> rules = {{"num_warps", OptionKind::kPowerOfTwo, 1, 32},
                                         {"debug", OptionKind::kBoolean}};
  EXPECT_EQ(RulesFromJson(json::parse(RulesToJson(rules).dump())), rules);
  for (const json& broken : {json(nullptr), json(1), json::array({1, json::object(), {{"name", 1}}})})
    EXPECT_TRUE(RulesFromJson(broken).empty()) << broken;
}

}  // namespace
}  // namespace tritond::server
