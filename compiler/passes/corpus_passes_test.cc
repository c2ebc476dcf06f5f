// SPDX-License-Identifier: Apache-2.0
// The passes from parsed to canonical ttir, on every kernel of the corpus.
#include <gtest/gtest.h>

#include "compiler/ir/parse_module.h"
#include "compiler/ir/test_context.h"
#include "compiler/passes/passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {
namespace {

void AddTtirPasses(mlir::PassManager& pm) {
  pm.addPass(mlir::createInlinerPass());
  pm.addPass(createRewriteTensorDescriptorPass());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(createRewriteTensorPointerPass());
  pm.addPass(createCombinePass());
  pm.addPass(createReorderBroadcastPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createHoistInvariantsPass());
  pm.addPass(mlir::createSymbolDCEPass());
  pm.addPass(createUnrollLoopPass());
}

std::string Print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

TEST(TtirPasses, RunOnTheWholeCorpus) {
  auto files = CorpusFiles();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the project";
  auto context = MakeTestContext();
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    ParsedModule parsed = ParseModule(ReadFile(file), context.get());
    ASSERT_TRUE(parsed.module());
    mlir::PassManager pm(context.get());  // verifies after each pass
    AddTtirPasses(pm);
    ASSERT_TRUE(succeeded(pm.run(parsed.module())));
    // Everything is in the kernel, on tensors of pointers; what comes out can be read again.
    auto funcs = parsed.module().getOps<tt::FuncOp>();
    EXPECT_EQ(std::distance(funcs.begin(), funcs.end()), 1);
    parsed.module()->walk([](mlir::Operation* op) {
      EXPECT_FALSE((llvm::isa<tt::CallOp, tt::MakeTensorPtrOp, tt::AdvanceOp, tt::MakeTensorDescOp,
                              tt::DescriptorLoadOp, tt::DescriptorStoreOp>(op)))
          << op->getName().getStringRef().str();
    });
    ParsedModule again = ParseModule(Print(parsed.module()), context.get());
    ASSERT_TRUE(again.module());
    EXPECT_EQ(Print(parsed.module()), Print(again.module()));
  }
}

TEST(TtirPasses, AreDeterministic) {
  auto files = CorpusFiles();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the project";
  for (size_t i = 0; i < files.size(); i += 9) {
    std::string first;
    for (int run = 0; run < 2; ++run) {
      auto context = MakeTestContext();
      ParsedModule parsed = ParseModule(ReadFile(files[i]), context.get());
      mlir::PassManager pm(context.get());
      AddTtirPasses(pm);
      ASSERT_TRUE(succeeded(pm.run(parsed.module())));
      if (run == 0) first = Print(parsed.module());
      EXPECT_EQ(first, Print(parsed.module())) << files[i];
    }
  }
}

}  // namespace
}  // namespace tritond::compiler
