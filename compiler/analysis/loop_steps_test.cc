// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/loop_steps.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace tritond::compiler {
namespace {

// Of %y, the last number that `body` makes in a loop whose %i counts from `begin` by `step`: "step span", the latter
// where it is known.
std::string StepsOf(const std::string& body, const std::string& begin = "%zero", int step = 1,
                    const std::string& end = "%n") {
  mlir::MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<tt::TTDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(module {
    tt.func @f(%n: i32, %m: i32, %p: !tt.ptr<i32>, %c: i1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %six = arith.constant 6 : i32
      %many = arith.constant 64 : i32
      %all = arith.constant 63 : i32
      %by = arith.constant )" + std::to_string(step) + R"( : i32
      cf.br ^head()" + begin + R"( : i32)
    ^head(%i: i32):
      %more = arith.cmpi slt, %i, )" + end + R"( : i32
      cf.cond_br %more, ^body, ^end
    ^body:
)" + body + R"(
      %next = arith.addi %i, %by : i32
      cf.br ^head(%next : i32)
    ^end:
      tt.return
    } })",
                                                        &context);
  if (!module) return "cannot parse";
  mlir::Block* header = nullptr;
  module->walk([&](mlir::cf::CondBranchOp branch) {
    if (!header) header = branch->getBlock();
  });
  mlir::Operation* next = &*std::prev(module->getBody()->front().getRegion(0).back().getPrevNode()->end(), 2);
  mlir::DominanceInfo dominance;
  std::optional<LoopSteps> steps = StepsIn(header, next->getPrevNode()->getResult(0), dominance);
  if (!steps) return "nothing";
  return std::to_string(steps->step) + (steps->span ? " " + std::to_string(*steps->span) : "");
}

TEST(LoopSteps, CountersGoOnByTheirStep) {
  EXPECT_EQ(StepsOf("%y = arith.addi %i, %n : i32"), "1");
  EXPECT_EQ(StepsOf("%y = arith.muli %i, %six : i32", "%m", 5), "30");
  EXPECT_EQ(StepsOf("%y = arith.shli %i, %two : i32", "%zero", 5), "20");
  EXPECT_EQ(StepsOf("%y = arith.subi %m, %i : i32", "%n", -3), "3");
  EXPECT_EQ(StepsOf("%y = arith.addi %n, %m : i32"), "0 0");
  EXPECT_EQ(StepsOf("%y = arith.muli %i, %two : i32", "%two", 1, "%six"), "2 6");
}

TEST(LoopSteps, RestsComeBack) {
  EXPECT_EQ(StepsOf("%y = arith.andi %i, %all : i32"), "1 63");
  EXPECT_EQ(StepsOf("%y = arith.andi %i, %six : i32", "%n"), "2 6");
  EXPECT_EQ(StepsOf("%y = arith.andi %i, %all : i32", "%zero", 24), "8 63");
  EXPECT_EQ(StepsOf("%y = arith.remsi %i, %many : i32", "%m", 6), "2 63");
  EXPECT_EQ(StepsOf("%y = arith.remui %i, %n : i32"), "1");
  EXPECT_EQ(StepsOf("%y = arith.remsi %i, %many : i32", "%m", 128), "0 0");
  EXPECT_EQ(StepsOf("%y = arith.xori %i, %m : i32", "%zero", 12), "4");
}

TEST(LoopSteps, QuotientsGoOnByAtLeastOne) {
  EXPECT_EQ(StepsOf("%y = arith.divsi %i, %six : i32", "%zero", 12), "2");
  EXPECT_EQ(StepsOf("%y = arith.divsi %i, %six : i32", "%zero", 4), "1");
  EXPECT_EQ(StepsOf("%y = arith.shrui %i, %two : i32"), "1");
}

TEST(LoopSteps, ChoicesAreAsFarApartAsTheirNumbers) {
  EXPECT_EQ(StepsOf("%y = arith.minsi %i, %many : i32", "%zero", 6), "2");
  EXPECT_EQ(StepsOf("%y = arith.maxsi %i, %n : i32", "%zero", 6), "1");
  EXPECT_EQ(StepsOf("%d = arith.cmpi slt, %i, %six : i32\n%y = arith.select %d, %two, %many : i32"), "62 62");
  EXPECT_EQ(StepsOf("%d = arith.cmpi slt, %i, %six : i32\n%y = arith.select %d, %n, %many : i32"), "nothing");
  EXPECT_EQ(StepsOf("%a = arith.muli %i, %six : i32\n%y = arith.select %c, %a, %two : i32"), "2");
}

// Neither what is loaded nor products of numbers of any size.
TEST(LoopSteps, OthersAreNotTold) {
  EXPECT_EQ(StepsOf("%y = arith.muli %i, %n : i32"), "nothing");
  EXPECT_EQ(StepsOf("%y = arith.remsi %i, %n : i32", "%zero", 6), "nothing");
  EXPECT_EQ(StepsOf("%q = tt.addptr %p, %i : !tt.ptr<i32>, i32\n%y = tt.load %q : !tt.ptr<i32>"), "nothing");
}

TEST(LoopSteps, PointersGoOnAsNumbersDo) {
  EXPECT_EQ(StepsOf("%b = arith.andi %i, %six : i32\n%y = tt.addptr %p, %b : !tt.ptr<i32>, i32"), "2 6");
}

}  // namespace
}  // namespace tritond::compiler
