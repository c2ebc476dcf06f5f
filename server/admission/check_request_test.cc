// SPDX-License-Identifier: Apache-2.0
#include "server/admission/check_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

RequestFacts Good() {
  RequestFacts facts;
  facts.target = "cuda:90";
  facts.ir_bytes = 100;
  facts.input = 1;
  facts.outputs = {5};
  facts.options = nlohmann::json{{"num_warps", 4}, {"num_stages", 3}, {"maxnreg", nullptr}, {"anything", {1, 2}}};
  facts.rules = {{"num_warps", OptionKind::kPowerOfTwo, 1, 32},
                 {"num_ctas", OptionKind::kPowerOfTwo, 1, 16},
                 {"num_stages", OptionKind::kInteger, 0, 64},
                 {"maxnreg", OptionKind::kInteger, 1, 255},
                 {"debug", OptionKind::kBoolean}};
  return facts;
}

std::vector<std::string> WrongFields(const RequestFacts& facts) {
  std::vector<std::string> fields;
  for (const Violation& violation : CheckRequest(facts, {})) fields.push_back(violation.field);
  return fields;
}

TEST(CheckRequest, AcceptsAGoodOne) { EXPECT_THAT(WrongFields(Good()), IsEmpty()); }

TEST(CheckRequest, NamesEveryWrongOption) {
  RequestFacts facts = Good();
  facts.options = nlohmann::json{{"num_warps", 3}, {"num_stages", -1}, {"num_ctas", "two"}, {"debug", 1}, {"name", 7}};
  EXPECT_THAT(WrongFields(facts), testing::UnorderedElementsAre("options.num_warps", "options.num_stages",
                                                                "options.num_ctas", "options.debug", "options.name"));
}

TEST(CheckRequest, TheCompilerAnswersForWarpsOfPartitions) {
  RequestFacts facts = Good();
  facts.options["num_warps"] = 12;
  EXPECT_THAT(WrongFields(facts), IsEmpty());
  for (const nlohmann::json& wrong : {nlohmann::json(6), nlohmann::json(48), nlohmann::json(0), nlohmann::json("12")}) {
    facts.options["num_warps"] = wrong;
    EXPECT_THAT(WrongFields(facts), ElementsAre("options.num_warps")) << wrong;
  }
}

TEST(CheckRequest, WithoutTheTargetsRulesItsWorkerChecks) {
  RequestFacts facts = Good();
  facts.rules.clear();
  facts.options = nlohmann::json{{"num_warps", 3}, {"launch_pdl", 3}};
  EXPECT_THAT(WrongFields(facts), ElementsAre("options.launch_pdl"));
}

TEST(CheckRequest, NamesAreShortAndPrintable) {
  RequestFacts facts = Good();
  facts.tenant = std::string(kMaxTenantBytes, 't');
  facts.label = std::string(kMaxLabelBytes - 2, 'l') + "\xc3\xa9";
  EXPECT_THAT(WrongFields(facts), IsEmpty());
  facts.tenant += "t";
  facts.label += "l";
  EXPECT_THAT(WrongFields(facts), ElementsAre("tenant", "label"));
  facts.tenant = "two\nlines";
  facts.label = "a bell\a";
  EXPECT_THAT(WrongFields(facts), ElementsAre("tenant", "label"));
}

TEST(CheckRequest, RefusesEmptyAndOversizedIr) {
  RequestFacts facts = Good();
  facts.ir_bytes = 0;
  EXPECT_THAT(WrongFields(facts), ElementsAre("ir"));
  facts.ir_bytes = (64 << 20) + 1;
  EXPECT_THAT(WrongFields(facts), ElementsAre("ir"));
  facts.ir_bytes = 64 << 20;
  EXPECT_THAT(WrongFields(facts), IsEmpty());
}

TEST(CheckRequest, OutputsComeAfterTheInput) {
  RequestFacts facts = Good();
  facts.input = 3;
  facts.outputs = {2, 4, 9};
  EXPECT_THAT(WrongFields(facts), ElementsAre("outputs[0]", "outputs[2]"));
  facts.input = 1;
  facts.outputs = {1};
  EXPECT_THAT(WrongFields(facts), IsEmpty());
  facts.input = 5;
  EXPECT_THAT(WrongFields(facts), ElementsAre("input"));
}

TEST(IsTargetSyntax, TellsNamesFromNonsense) {
  for (auto good : {"cuda:90", "cuda:90a", "hip:gfx942", "hip:gfx90a:sramecc+", "host", "level_zero:pvc"}) {
    EXPECT_TRUE(IsTargetSyntax(good)) << good;
  }
  for (auto bad : {"", "CUDA:90", "cuda:", ":90", "cuda 90", "cuda:9 0", "../x", "90"}) {
    EXPECT_FALSE(IsTargetSyntax(bad)) << bad;
  }
  EXPECT_FALSE(IsTargetSyntax("a:" + std::string(200, 'x')));
}

}  // namespace
}  // namespace tritond::server
