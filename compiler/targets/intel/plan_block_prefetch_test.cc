// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/plan_block_prefetch.h"

#include <gtest/gtest.h>

#include <set>

namespace tritond::compiler::intel {
namespace {

TEST(PlanBlockPrefetch, BringsEachByteOfATileOnce) {
  for (int64_t rows = 1; rows <= 256; rows *= 2) {
    for (int64_t row_bytes = 16; row_bytes <= 1024; row_bytes *= 2) {
      for (int warps = 1; warps <= 32; warps *= 2) {
        const BlockPrefetchPlan plan = PlanBlockPrefetch(rows, row_bytes, warps);
        std::set<std::pair<int, int>> begins;
        for (int b = 0; b < plan.blocks; ++b)
          begins.insert({b / plan.across * plan.rows, b % plan.across * plan.bytes});
        EXPECT_EQ(begins.size(), static_cast<size_t>(plan.blocks));
        EXPECT_EQ(begins.rbegin()->first + plan.rows, rows) << rows << " x " << row_bytes << ", " << warps;
        EXPECT_EQ(begins.rbegin()->second + plan.bytes, std::max<int64_t>(row_bytes, 32));
        EXPECT_EQ(int64_t{plan.blocks} * plan.rows * plan.bytes, rows * std::max<int64_t>(row_bytes, 32));
      }
    }
  }
}

TEST(PlanBlockPrefetch, GivesEachWarpABlockWhereThereAreEnoughRows) {
  EXPECT_EQ(PlanBlockPrefetch(64, 64, 4).blocks, 4);
  EXPECT_EQ(PlanBlockPrefetch(64, 64, 4).rows, 16);
  EXPECT_EQ(PlanBlockPrefetch(32, 256, 8).rows, 16);
  EXPECT_EQ(PlanBlockPrefetch(16, 64, 32).blocks, 16);
  EXPECT_EQ(PlanBlockPrefetch(256, 64, 4).blocks, 8);
}

TEST(PlanBlockPrefetch, KnowsItsFunctions) {
  EXPECT_EQ(PlanBlockPrefetch(64, 64, 4).mangled(), "_Z45intel_sub_group_2d_block_prefetch_8b_16r32x2cPU3AS1viiiDv2_i");
  EXPECT_TRUE(IsBlockPrefetch("_Z45intel_sub_group_2d_block_prefetch_8b_16r32x2cPU3AS1viiiDv2_i"));
  EXPECT_TRUE(IsBlockPrefetch("_Z44intel_sub_group_2d_block_prefetch_8b_1r32x1cPU3AS1viiiDv2_i"));
  EXPECT_FALSE(IsBlockPrefetch("_Z44intel_sub_group_2d_block_prefetch_8b_3r32x1cPU3AS1viiiDv2_i"));
  EXPECT_FALSE(IsBlockPrefetch("_Z45intel_sub_group_2d_block_prefetch_8b_16r32x2cPU3AS1viiiDv2_iPt"));
}

}  // namespace
}  // namespace tritond::compiler::intel
