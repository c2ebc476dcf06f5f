// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/plan_block_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"

namespace tritond::compiler::intel {
namespace {

using testing::ElementsAre;

class PlanBlockReadsTest : public testing::Test {
 protected:
  PlanBlockReadsTest() { context_.loadDialect<ttg::TTGDialect>(); }

  // An operand of a dot whose warps, `warps`, share the rows and the columns.
  mlir::RankedTensorType Operand(unsigned index, llvm::ArrayRef<int64_t> shape, mlir::Type element, unsigned per_word,
                                 llvm::ArrayRef<unsigned> warps = {1, 1}) {
    auto dpas = ttg::DpasEncodingAttr::get(&context_, 8, 8, 16, per_word, 16, warps, llvm::SmallVector<unsigned>(2, 1),
                                           ttg::SingleBlock(2));
    auto encoding = ttg::DotOperandEncodingAttr::get(&context_, index, dpas, ttg::DpasKWidth(dpas, index));
    return mlir::RankedTensorType::get(shape, element, encoding);
  }

  std::vector<std::string> NamesOf(mlir::RankedTensorType type, unsigned contiguous) {
    const auto plan = PlanBlockReads(type, contiguous);
    if (!plan) return {"none"};
    std::vector<std::string> names;
    for (const BlockRead& read : plan->reads)
      names.push_back(read.function.name().substr(std::string("intel_sub_group_2d_block_read_").size()));
    return names;
  }

  mlir::MLIRContext context_;
  mlir::Builder b_{&context_};
};

TEST_F(PlanBlockReadsTest, TakesTheLargestBlocks) {
  EXPECT_THAT(NamesOf(Operand(0, {32, 32}, b_.getF16Type(), 2), 1), ElementsAre("16b_32r16x2c"));
  EXPECT_THAT(NamesOf(Operand(0, {8, 16}, b_.getBF16Type(), 2), 1), ElementsAre("16b_8r16x1c"));
  EXPECT_THAT(NamesOf(Operand(0, {16, 64}, b_.getI8Type(), 4), 1), ElementsAre("8b_16r32x2c"));
  EXPECT_THAT(NamesOf(Operand(0, {8, 16}, b_.getF32Type(), 1), 1), ElementsAre("32b_8r8x2c"));
  EXPECT_THAT(NamesOf(Operand(1, {32, 32}, b_.getF16Type(), 2), 1), ElementsAre("transform_16b_32r16x2c"));
  EXPECT_THAT(NamesOf(Operand(1, {32, 64}, b_.getI8Type(), 4), 1), ElementsAre("transform_8b_32r16x4c"));
  EXPECT_THAT(NamesOf(Operand(1, {16, 16}, b_.getF32Type(), 1), 1), ElementsAre("32b_16r16x1c"));
}

TEST_F(PlanBlockReadsTest, RowsAcrossTheLanesAreTransposed) {
  EXPECT_THAT(NamesOf(Operand(0, {16, 16}, b_.getF16Type(), 2), 0), ElementsAre("transpose_32b_16r8x1c"));
  for (auto [type, per_word] :
       {std::make_pair(mlir::Type(b_.getF16Type()), 2u), {b_.getI8Type(), 4u}, {b_.getF32Type(), 1u}})
    EXPECT_THAT(NamesOf(Operand(1, {8 * per_word, 16}, type, per_word), 0), ElementsAre("transpose_32b_16r8x1c"));
}

TEST_F(PlanBlockReadsTest, WarpsThatTakeTurnsHaveBlocksOfOneTile) {
  const auto plan = PlanBlockReads(Operand(0, {32, 16}, b_.getF16Type(), 2, {2, 1}), 1);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->reads.size(), 2u);
  EXPECT_EQ(plan->reads[0].row, 0);
  EXPECT_EQ(plan->reads[1].row, 16);
  EXPECT_EQ(plan->rows, 24);
}

TEST_F(PlanBlockReadsTest, OthersHaveNoBlocks) {
  // Bytes that lie along M, and columns that several lanes hold.
  EXPECT_THAT(NamesOf(Operand(0, {32, 32}, b_.getI8Type(), 4), 0), ElementsAre("none"));
  EXPECT_THAT(NamesOf(Operand(1, {32, 8}, b_.getF16Type(), 2), 1), ElementsAre("none"));
  EXPECT_FALSE(PlanBlockReads(mlir::RankedTensorType::get({8, 16}, b_.getF16Type()), 1).has_value());
}

TEST_F(PlanBlockReadsTest, KnowsItsFunctions) {
  EXPECT_TRUE(IsBlockFunction("_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPt"));
  EXPECT_TRUE(IsBlockFunction("_Z51intel_sub_group_2d_block_read_transpose_32b_16r8x1cPU3AS1viiiDv2_iPj"));
  EXPECT_FALSE(IsBlockFunction("_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPj"));
  EXPECT_FALSE(IsBlockFunction("_Z41intel_sub_group_2d_block_read_16b_9r16x1cPU3AS1viiiDv2_iPt"));
}

}  // namespace
}  // namespace tritond::compiler::intel
