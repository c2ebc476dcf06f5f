// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/canonicalize.h"

#include <gtest/gtest.h>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {
namespace {

// What the passes make of a kernel that calls a function.
std::string After(mlir::MLIRContext* context, std::unique_ptr<mlir::Pass> first, std::unique_ptr<mlir::Pass> second) {
  constexpr char kKernel[] =
      "tt.func private @twice(%x: i32) -> i32 {\n"
      "  %zero = arith.constant 0 : i32\n"
      "  %two = arith.constant 2 : i32\n"
      "  %sum = arith.addi %zero, %x : i32\n"
      "  %product = arith.muli %sum, %two : i32\n"
      "  tt.return %product : i32\n"
      "}\n"
      "tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32) {\n"
      "  %three = arith.constant 3 : i32\n"
      "  %six = tt.call @twice(%three) : (i32) -> i32\n"
      "  %sum = arith.addi %six, %x : i32\n"
      "  tt.store %p, %sum : !tt.ptr<i32>\n"
      "  tt.return\n"
      "}\n";
  ParsedModule parsed = ParseModule(kKernel, context);
  EXPECT_TRUE(parsed.module());
  mlir::PassManager pm(context);
  pm.addPass(std::move(first));
  pm.addPass(std::move(second));
  EXPECT_TRUE(succeeded(pm.run(parsed.module())));
  std::string text;
  llvm::raw_string_ostream os(text);
  parsed.module()->print(os);
  return text;
}

TEST(Canonicalize, DoesWhatTheCanonicalizerDoes) {
  auto context = MakeTestContext();
  const std::string expected = After(context.get(), mlir::createInlinerPass(), mlir::createCanonicalizerPass());
  EXPECT_NE(expected.find("arith.constant 6 : i32"), std::string::npos) << expected;
  EXPECT_EQ(After(context.get(), CreateInlinePass(), CreateCanonicalizePass()), expected);
  KeepCanonicalPatterns(*context);
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(After(context.get(), CreateInlinePass(), CreateCanonicalizePass()), expected);
}

}  // namespace
}  // namespace tritond::compiler
