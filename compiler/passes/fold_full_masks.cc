// SPDX-License-Identifier: Apache-2.0
// A loop over a row of known length masks what is beyond its end. In most iterations, or in all of them, nothing is:
//
//   scf.for %i = 0 to 1000 step 256 {              scf.for %i = 0 to 768 step 256 {
//     %columns = %i + [0 … 255]                      … tt.load (%row + %columns) …
//     %mask = %columns < 1000                ->    }
//     … tt.load (%row + %columns), %mask …         scf.for %i = 768 to 1024 step 256 {
//   }                                                … tt.load (%row + %columns), %mask …
//                                                  }
//
// Comparisons that the ranges of their sides decide become constants, and masks that hold everywhere go with them. A
// loop whose comparisons hold in the first iterations, at least in kLeastIterations, is split after these. The
// assembler of NVIDIA unrolls loops of known length only if their loads have no masks. A loop that asks whether an
// iteration is the first one, to begin its sums, is split after that one, so that neither part asks.
//
// Innermost loops without dots alone are split, of no more than kMostOperations: others are copied into more code than
// the masks take.
#include "compiler/analysis/element_ranges.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FOLDFULLMASKSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::scf::ForOp;

constexpr int64_t kLeastIterations = 4;
constexpr int64_t kMostOperations = 400;

// Whether there is no loop, dot or call in it, and few operations.
bool IsSmall(ForOp loop) {
  int64_t operations = 0;
  auto result = loop.getBody()->walk([&](Operation* op) {
    const bool is_large = llvm::isa<mlir::LoopLikeOpInterface, tt::DotOpInterface, tt::CallOp>(op);
    return is_large || ++operations > kMostOperations ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return !result.wasInterrupted();
}

// Of the first iterations of `loop`, as many as decide more comparisons than all of them do; 0: none.
int64_t FullIterations(ForOp loop, const ConstantLoop& constant) {
  llvm::SmallVector<arith::CmpIOp> undecided;
  ElementRanges all;
  loop.getBody()->walk([&](arith::CmpIOp compare) {
    if (!all.Decides(compare)) undecided.push_back(compare);
  });
  auto holds = [&](int64_t iterations) {
    ElementRanges first;
    first.Limit(loop, 0, iterations);
    return llvm::any_of(undecided, [&](arith::CmpIOp compare) { return first.Decides(compare) == true; });
  };
  if (undecided.empty() || constant.iterations <= kLeastIterations || !holds(kLeastIterations)) return 0;
  int64_t full = kLeastIterations, partial = constant.iterations;
  while (partial - full > 1) {
    const int64_t middle = full + (partial - full) / 2;
    (holds(middle) ? full : partial) = middle;
  }
  return full;
}

// Whether a comparison with one number tells the first iteration from the others.
bool AsksForFirst(ForOp loop, const ConstantLoop& constant) {
  if (constant.iterations < 2) return false;
  ElementRanges all, first, others;
  first.Limit(loop, 0, 1);
  others.Limit(loop, 1, constant.iterations - 1);
  auto result = loop.getBody()->walk([&](arith::CmpIOp compare) {
    using Predicate = arith::CmpIPredicate;
    const bool asks = (compare.getPredicate() == Predicate::eq || compare.getPredicate() == Predicate::ne) &&
                      !all.Decides(compare) && first.Decides(compare) && others.Decides(compare);
    return asks ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

// Returns the loop of the other iterations.
ForOp Split(ForOp loop, const ConstantLoop& constant, int64_t iterations) {
  mlir::OpBuilder b(loop);
  auto bound = arith::ConstantOp::create(
      b, loop.getLoc(), b.getIntegerAttr(loop.getUpperBound().getType(), constant.begin + iterations * constant.step));
  b.setInsertionPointAfter(loop);
  auto rest = llvm::cast<ForOp>(b.clone(*loop));
  loop.replaceAllUsesWith(rest.getResults());
  rest.setLowerBound(bound);
  rest.getInitArgsMutable().assign(loop.getResults());
  loop.setUpperBound(bound);
  return rest;
}

class FoldFullMasksPass : public impl::FoldFullMasksPassBase<FoldFullMasksPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    for (ForOp loop : loops) {
      std::optional<ConstantLoop> constant = ConstantLoopOf(loop);
      if (!constant || !IsSmall(loop)) continue;
      if (AsksForFirst(loop, *constant)) {
        loop = Split(loop, *constant, 1);
        constant = ConstantLoopOf(loop);
      }
      if (const int64_t iterations = FullIterations(loop, *constant); iterations > 0)
        Split(loop, *constant, iterations);
    }
    DecideComparisons(getOperation());
  }
};

}  // namespace
}  // namespace tritond::compiler
