// SPDX-License-Identifier: Apache-2.0
// Products of groups whose tensors the kernel finds while it runs: loops make descriptors, for a group or for a part of
// it. A device with bulk copies makes tensor maps there, at the same place in memory each time. Groups may be empty.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/group_products.h"

namespace tritond::conformance {
namespace {

std::string Options(const GroupProducts& g) { return absl::StrCat("\"loop_maps\": true, \"num_stages\": ", g.stages); }

class LoopMaps : public testing::TestWithParam<std::tuple<Machine, GroupProducts>> {};

TEST_P(LoopMaps, AreThoseOfTheirGroups) {
  const auto& [machine, g] = GetParam();
  Array lefts = GroupLefts(), rights = GroupRights(), sizes = GroupSizes(), results = GroupResults();
  absl::Status status = RunKernel(machine, TextOf(g), {}, {lefts, rights, sizes, results}, Options(g));
  ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(g);
  EXPECT_TRUE(Agree(results, ExpectedOf(g)));
}

const GroupProducts kAll[] = {
    {},
    {4, true, true, true},
    {3, true, false, false},
    {2, true, true, false},
    {3, false, false, true},
    {4, false, true, true},
    {3, false, true, false},
    {2, false, false, false},
};

TEST(LoopMaps, AreMadeWhereTheDeviceHasThem) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "does not depend on the device";
  for (const GroupProducts& g : kAll) {
    absl::StatusOr<LlirKernel> kernel = CompileToLlir({"emulated:cuda:90", "cuda:90", 4}, TextOf(g), Options(g));
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_TRUE(absl::StrContains(kernel->text, "cp.async.bulk.tensor.2d")) << kernel->text;
    EXPECT_FALSE(absl::StrContains(kernel->text, "cp.async.cg")) << kernel->text;
    EXPECT_EQ(kernel->global_scratch, 256);
    // Of each thread's own writes, where they may be to what copies read.
    EXPECT_EQ(absl::StrContains(kernel->text, "fence.proxy.async.global"), !g.knows_tensors) << kernel->text;
  }
}

INSTANTIATE_TEST_SUITE_P(On, LoopMaps, testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
