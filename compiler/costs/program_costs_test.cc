// SPDX-License-Identifier: Apache-2.0
#include "compiler/costs/program_costs.h"

#include "absl/strings/str_replace.h"
#include "compiler/encoding/exchange_cost.h"
#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

constexpr char kModule[] = R"(
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b0 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
$BODY
    tt.return
  }
}
)";

TargetInfo Device() {
  TargetInfo info;
  info.lanes = 32;
  MatrixShape shape;
  shape.operands = "f16";
  shape.m = 16, shape.n = 8, shape.k = 16, shape.products = 1024;
  info.matrix_instructions = {shape};
  return info;
}

class ProgramCostsTest : public testing::Test {
 protected:
  // Of the kernel with `body`, launched with n = 6 as program 1.
  ProgramCosts Of(const std::string& body) {
    parsed_ = ParseModule(absl::StrReplaceAll(kModule, {{"$BODY", body}}), context_.get());
    EXPECT_TRUE(parsed_.module());
    if (!parsed_.module()) return {};
    function_ = *parsed_.module().getOps<tt::FuncOp>().begin();
    EXPECT_TRUE(succeeded(FixLaunch(function_, {0, 6}, {1})));
    return CostsOf(function_, Device());
  }

  std::unique_ptr<mlir::MLIRContext> context_ = MakeTestContext();
  ParsedModule parsed_;
  tt::FuncOp function_;
};

constexpr char kCopy[] = R"(
    %a = tt.addptr %s, %i : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %v = tt.load %a : tensor<1024x!tt.ptr<f32>, #b>
    tt.store %a, %v : tensor<1024x!tt.ptr<f32>, #b>
)";

TEST_F(ProgramCostsTest, CountsBytesByArgument) {
  const ProgramCosts costs = Of(kCopy);
  EXPECT_DOUBLE_EQ(costs.global_bytes, 8192);
  EXPECT_DOUBLE_EQ(costs.bytes_by_argument.lookup(function_.getArgument(0)), 8192);
  EXPECT_DOUBLE_EQ(costs.waits, 1);
}

TEST_F(ProgramCostsTest, CountsWholeSectorsOfScatteredElements) {
  const ProgramCosts costs = Of(R"(
    %k = arith.constant dense<64> : tensor<1024xi32, #b>
    %j = arith.muli %i, %k : tensor<1024xi32, #b>
    %a = tt.addptr %s, %j : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %v = tt.load %a : tensor<1024x!tt.ptr<f32>, #b>
    tt.store %a, %v : tensor<1024x!tt.ptr<f32>, #b>)");
  EXPECT_DOUBLE_EQ(costs.global_bytes, 2 * 1024 * 32);
}

TEST_F(ProgramCostsTest, CountsIterationsThatTheLaunchFixes) {
  const ProgramCosts once = Of(kCopy);
  const std::string loop = "    scf.for %t = %c0 to %n step %c1 : i32 {" + std::string(kCopy) + "    }\n";
  const ProgramCosts costs = Of(loop);
  EXPECT_DOUBLE_EQ(costs.global_bytes, 6 * once.global_bytes);
  EXPECT_DOUBLE_EQ(costs.waits, 6);
  EXPECT_GT(costs.issue_slots, 5 * (once.issue_slots - 100));
  EXPECT_EQ(costs.unknown_loops, 0);
}

TEST_F(ProgramCostsTest, TakesTheProgramsIndexForKnown) {
  const std::string loop =
      "    %x = tt.get_program_id x : i32\n    scf.for %t = %x to %n step %c1 : i32 {" + std::string(kCopy) + "    }\n";
  EXPECT_DOUBLE_EQ(Of(loop).global_bytes, 5 * 8192);
}

TEST_F(ProgramCostsTest, CountsUnknownLoopsOnceAndSaysSo) {
  const std::string loop = "    %m = tt.load %q : !tt.ptr<i32>\n    scf.for %t = %c0 to %m step %c1 : i32 {" +
                           std::string(kCopy) + "    }\n";
  const ProgramCosts costs = Of("    %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>\n" + loop);
  EXPECT_EQ(costs.unknown_loops, 1);
  EXPECT_DOUBLE_EQ(costs.global_bytes, 8192 + 32);  // and a sector
}

TEST_F(ProgramCostsTest, CountsEachBranchHalf) {
  const std::string branch =
      "    %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i1>\n"
      "    %m = tt.load %q : !tt.ptr<i1>\n    scf.if %m {" +
      std::string(kCopy) + "    }\n";
  EXPECT_DOUBLE_EQ(Of(branch).global_bytes, 4096 + 32);
}

TEST_F(ProgramCostsTest, CountsDotsByTheInstructionsRate) {
  const std::string dot = R"(
    %x = arith.constant dense<1.0> : tensor<64x32xTYPE, #a0>
    %y = arith.constant dense<1.0> : tensor<32x16xTYPE, #b0>
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<64x32xTYPE, #a0> * tensor<32x16xTYPE, #b0> -> tensor<64x16xf32, #mma>
    %r = tt.reshape %d allow_reorder : tensor<64x16xf32, #mma> -> tensor<1024xf32, #b>
    tt.store %s, %r : tensor<1024x!tt.ptr<f32>, #b>)";
  ProgramCosts costs = Of(absl::StrReplaceAll(dot, {{"TYPE", "f16"}}));
  EXPECT_DOUBLE_EQ(costs.products, 64 * 32 * 16);
  EXPECT_DOUBLE_EQ(costs.matrix_cycles, 32);
  EXPECT_EQ(costs.unknown_dots, 0);
  costs = Of(absl::StrReplaceAll(dot, {{"TYPE", "bf16"}}));
  EXPECT_EQ(costs.unknown_dots, 1);
  EXPECT_DOUBLE_EQ(costs.matrix_cycles, 0);
}

// A scan along lanes costs a shuffle for each doubling of the distance and each register.
TEST_F(ProgramCostsTest, CountsScansByTheirEncoding) {
  const std::string scan = R"(
    %x = tt.reshape %s allow_reorder : tensor<1024x!tt.ptr<f32>, #b> -> tensor<SHAPEx!tt.ptr<f32>, #c>
    %v = tt.load %x : tensor<SHAPEx!tt.ptr<f32>, #c>
    %y = "tt.scan"(%v) <{axis = AXIS : i32, reverse = false}> ({
    ^bb0(%e: f32, %f: f32):
      %g = arith.addf %e, %f : f32
      tt.scan.return %g : f32
    }) : (tensor<SHAPExf32, #c>) -> tensor<SHAPExf32, #c>
    tt.store %x, %y : tensor<SHAPEx!tt.ptr<f32>, #c>)";
  const double lanes = Of(absl::StrReplaceAll(scan, {{"SHAPE", "32x32"}, {"AXIS", "0"}})).issue_slots;
  const double registers = Of(absl::StrReplaceAll(scan, {{"SHAPE", "32x32"}, {"AXIS", "1"}})).issue_slots;
  // 32 registers, five steps, four warps.
  EXPECT_DOUBLE_EQ(lanes - registers, 4 * 32 * 5 * (kShuffledWord + 2));
}

}  // namespace
}  // namespace tritond::compiler
