// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/known_values.h"

#include "compiler/ir/ttg_dialect.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// What is known of %y in a function with `body`; its parameter is %p: tensor<4xi32>.
std::optional<std::vector<int64_t>> Known(const std::string& body) {
  mlir::MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "module { tt.func @f(%p: tensor<4xi32>) {\n" + body + "\ntt.return\n} }", &context);
  if (!module) {
    ADD_FAILURE() << "cannot parse " << body;
    return std::nullopt;
  }
  mlir::Operation* last = nullptr;
  module->walk([&](mlir::Operation* op) {
    if (op->getNumResults() == 1) last = op;
  });
  return KnownValues(last->getResult(0));
}

const char kRange[] = "%r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>\n";

TEST(KnownValues, NeighboursOnARing) {
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %three = arith.constant dense<3> : tensor<4xi32>
      %four = arith.constant dense<4> : tensor<4xi32>
      %sum = arith.addi %r, %three : tensor<4xi32>
      %y = arith.remsi %sum, %four : tensor<4xi32>)"),
              Optional(ElementsAre(3, 0, 1, 2)));
}

TEST(KnownValues, PlacesOfElements) {
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %a = tt.reshape %r : tensor<4xi32> -> tensor<2x2xi32>
      %y = tt.trans %a {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>)"),
              Optional(ElementsAre(0, 2, 1, 3)));
  EXPECT_THAT(Known(R"(
      %r = tt.make_range {start = 5 : i32, end = 7 : i32} : tensor<2xi32>
      %e = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
      %y = tt.broadcast %e : tensor<2x1xi32> -> tensor<2x2xi32>)"),
              Optional(ElementsAre(5, 5, 6, 6)));
}

TEST(KnownValues, WidthsAndSigns) {
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %c = arith.constant dense<-2> : tensor<4xi32>
      %s = arith.addi %r, %c : tensor<4xi32>
      %t = arith.trunci %s : tensor<4xi32> to tensor<4xi8>
      %y = arith.extui %t : tensor<4xi8> to tensor<4xi64>)"),
              Optional(ElementsAre(254, 255, 0, 1)));
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %c = arith.constant dense<-1> : tensor<4xi32>
      %s = arith.subi %c, %r : tensor<4xi32>
      %by = arith.constant dense<31> : tensor<4xi32>
      %y = arith.shrui %s, %by : tensor<4xi32>)"),
              Optional(ElementsAre(1, 1, 1, 1)));
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %c = arith.constant dense<2> : tensor<4xi32>
      %m = arith.cmpi slt, %r, %c : tensor<4xi32>
      %y = arith.extsi %m : tensor<4xi1> to tensor<4xi32>)"),
              Optional(ElementsAre(-1, -1, 0, 0)));
}

TEST(KnownValues, Choices) {
  EXPECT_THAT(Known(std::string(kRange) + R"(
      %c = arith.constant dense<2> : tensor<4xi32>
      %m = arith.cmpi uge, %r, %c : tensor<4xi32>
      %y = arith.select %m, %c, %r : tensor<4xi1>, tensor<4xi32>)"),
              Optional(ElementsAre(0, 1, 2, 2)));
}

TEST(KnownValues, NothingOfParametersAndDivisionsByZero) {
  EXPECT_EQ(Known("%y = arith.addi %p, %p : tensor<4xi32>"), std::nullopt);
  EXPECT_EQ(Known(std::string(kRange) + "%y = arith.divsi %r, %r : tensor<4xi32>"), std::nullopt);
}

TEST(KnownValues, NothingOfLargeTensors) {
  EXPECT_EQ(Known("%y = tt.make_range {start = 0 : i32, end = 65536 : i32} : tensor<65536xi32>"), std::nullopt);
}

}  // namespace
}  // namespace tritond::compiler
