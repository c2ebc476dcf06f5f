// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/null_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {
namespace {

constexpr char kSum[] = R"(module {
  tt.func public @sum(%x: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %p = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %p : tensor<128x!tt.ptr<f32>>
    tt.store %p, %v : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";

class NullTargetTest : public testing::Test {
 protected:
  NullTargetTest() : context_(MakeTestContext()), target_(null::MakeTarget("null", {})) {}

  // Runs the target's three stretches of passes.
  mlir::OwningOpRef<mlir::ModuleOp> RunPasses() {
    ParsedModule parsed = ParseModule(kSum, context_.get());
    mlir::OwningOpRef<mlir::ModuleOp> module = parsed.TakeModule();
    mlir::PassManager pm(context_.get(), mlir::ModuleOp::getOperationName());
    const KernelOptions options;
    target_->AddTtirPasses(pm, options);
    target_->AddTtgirPasses(pm, options);
    target_->AddLlirPasses(pm, options);
    EXPECT_TRUE(mlir::succeeded(pm.run(*module)));
    return module;
  }

  std::unique_ptr<mlir::MLIRContext> context_;
  std::unique_ptr<Target> target_;
};

TEST_F(NullTargetTest, GivesEveryTensorAnEncoding) {
  mlir::OwningOpRef<mlir::ModuleOp> module = RunPasses();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  EXPECT_THAT(text, testing::HasSubstr("#ttg.blocked"));
  EXPECT_THAT(text, testing::HasSubstr("ttg.target = \"null\""));
}

TEST_F(NullTargetTest, SaysWhichInstructionIsMissing) {
  mlir::OwningOpRef<mlir::ModuleOp> module = RunPasses();
  std::vector<std::string> complaints;
  mlir::ScopedDiagnosticHandler handler(context_.get(), [&](mlir::Diagnostic& diagnostic) {
    complaints.push_back(diagnostic.str());
    return mlir::success();
  });
  (void)LowerToLlvm(*module, target_->Ops(), LoweringOptions());
  EXPECT_THAT(complaints, testing::Contains("target null has no load"));
  EXPECT_THAT(complaints, testing::Contains("target null has no store"));
}

TEST_F(NullTargetTest, HasNoBinaryAndIsNotOffered) {
  EXPECT_EQ(target_->AssemblerStatus().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(TargetNames(), testing::Not(testing::Contains("null")));
  EXPECT_FALSE(FindTarget("null", TargetConfig()).ok());
}

}  // namespace
}  // namespace tritond::compiler
