// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/target_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler {
namespace {

using nlohmann::json;
using testing::HasSubstr;

OptionRule RuleOf(const TargetInfo& info, const std::string& name) {
  for (const OptionRule& rule : OptionRulesOf(info))
    if (rule.name == name) return rule;
  ADD_FAILURE() << "no rule of " << name;
  return {};
}

TEST(OptionRulesOf, FollowTheTargetsLimits) {
  TargetInfo info;
  info.lanes = 64;
  info.max_threads = 1024;
  info.max_ctas = 1;
  info.own_options = {{"waves_per_eu", OptionKind::kInteger, 0, 8}};
  EXPECT_EQ(MaxWarps(info), 16);
  EXPECT_TRUE(CheckOption(RuleOf(info, "num_warps"), 32).ok());  // of another GPU
  for (const json& warps : {json(0), json(3), json(64), json(2.0), json("4")})
    EXPECT_EQ(
        CheckOption(RuleOf(info, "num_warps"), warps),
        absl::InvalidArgumentError("option num_warps = " + warps.dump() + ": must be a power of two from 1 to 32"));
  EXPECT_TRUE(CheckOption(RuleOf(info, "warp_size"), 32).ok());  // of another GPU
  EXPECT_FALSE(CheckOption(RuleOf(info, "num_ctas"), 2).ok());
  EXPECT_TRUE(CheckOption(RuleOf(info, "waves_per_eu"), 0).ok());
  EXPECT_THAT(std::string(CheckOption(RuleOf(info, "debug"), 1).message()), HasSubstr("true or false"));
}

TEST(MatrixOperandsOf, NamesEachTypeOnce) {
  TargetInfo info;
  info.matrix_instructions = {
      {"f16", "f32", 16, 8, 16}, {"f16", "f32", 64, 256, 16, 4, true}, {"i8", "i32", 16, 8, 32}};
  EXPECT_THAT(MatrixOperandsOf(info), testing::ElementsAre("f16", "i8"));
}

TEST(OwnOptions, HaveTheDefaultsOfWhoReadsThem) {
  OwnOptions own;
  EXPECT_EQ(own.Integer("n", 7), 7);
  EXPECT_TRUE(own.Boolean("b", true));
  EXPECT_EQ(own.Text("t"), "");
  own.Set("n", 8);
  own.Set("b", false);
  own.Set("t", "x");
  EXPECT_EQ(own.Integer("n", 7), 8);
  EXPECT_FALSE(own.Boolean("b", true));
  EXPECT_EQ(own.Text("t"), "x");
}

}  // namespace
}  // namespace tritond::compiler
