// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/canonicalize.h"

#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {
namespace {

using Patterns = std::shared_ptr<const mlir::FrozenRewritePatternSet>;

Patterns CollectPatterns(mlir::MLIRContext* context) {
  mlir::RewritePatternSet patterns(context);
  for (mlir::Dialect* dialect : context->getLoadedDialects()) dialect->getCanonicalizationPatterns(patterns);
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  return std::make_shared<mlir::FrozenRewritePatternSet>(std::move(patterns));
}

// Belongs to a dialect, and so lives as long as the context.
class KeptPatterns final : public mlir::DialectInterface::Base<KeptPatterns> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeptPatterns)
  explicit KeptPatterns(mlir::Dialect* dialect) : Base(dialect), patterns_(CollectPatterns(dialect->getContext())) {}
  const Patterns& patterns() const { return patterns_; }

 private:
  const Patterns patterns_;
};

class Canonicalize final : public mlir::PassWrapper<Canonicalize, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonicalize)
  mlir::StringRef getArgument() const override { return "tt-canonicalize"; }
  mlir::StringRef getDescription() const override { return "canonicalizes by the patterns that the context keeps"; }

  mlir::LogicalResult initialize(mlir::MLIRContext* context) override {
    auto* dialect = context->getLoadedDialect<tt::TTDialect>();
    auto* kept = dialect ? dialect->getRegisteredInterface<KeptPatterns>() : nullptr;
    patterns_ = kept ? kept->patterns() : CollectPatterns(context);
    return mlir::success();
  }

  // With the canonicaliser's defaults. As there, patterns that come to no end are no failure.
  void runOnOperation() override {
    mlir::GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Normal);
    (void)mlir::applyPatternsGreedily(getOperation(), *patterns_, config);
  }

 private:
  Patterns patterns_;
};

}  // namespace

void KeepCanonicalPatterns(mlir::MLIRContext& context) {
  context.getOrLoadDialect<tt::TTDialect>()->addInterfaces<KeptPatterns>();
}

std::unique_ptr<mlir::Pass> CreateCanonicalizePass() { return std::make_unique<Canonicalize>(); }

std::unique_ptr<mlir::Pass> CreateInlinePass() {
  return mlir::createInlinerPass({}, [](mlir::OpPassManager& pm) { pm.addPass(CreateCanonicalizePass()); });
}

}  // namespace tritond::compiler
