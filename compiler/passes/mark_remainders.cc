// SPDX-License-Identifier: Apache-2.0
// Says of remainders and quotients what they are where conditions keep their dividends from being negative:
//
//   scf.while … condition(first <= tile) do {
//     %t = tile - first                                 never negative here
//     %x = %t * 256 + range(256)
//     %r = arith.remsi %x, splat %n     ->     %r = arith.remsi %x, splat %n {tt.contiguity = 16, tt.divisibility = 16}
//   }
//
// With %n a multiple of 16, neighbours run on in groups of 16, unless %x is negative: -16 leaves 0, and -15 leaves -15.
// The conditions are in sight here. Later, branches are blocks, what does not change is in front of them, and divisions
// are products.
#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/axis_transfer.h"
#include "compiler/analysis/lower_bounds.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_MARKREMAINDERSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;

class MarkRemaindersPass final : public impl::MarkRemaindersPassBase<MarkRemaindersPass> {
  void runOnOperation() override {
    llvm::SmallVector<Operation*> divisions;
    getOperation().walk([&](Operation* op) {
      if (llvm::isa<arith::DivSIOp, arith::RemSIOp>(op) &&
          llvm::isa<mlir::RankedTensorType>(op->getResult(0).getType()))
        divisions.push_back(op);
    });
    if (divisions.empty()) return;
    AxisInfoAnalysis axes(getOperation());
    for (Operation* division : divisions) {
      AxisInfo dividend = axes.Get(division->getOperand(0)), divisor = axes.Get(division->getOperand(1));
      if (dividend.non_negative || !IsAtLeast(division->getOperand(0), 0, division, axes)) continue;
      dividend.non_negative = true;
      if (auto info = axis::TransferArithmetic(division, {dividend, divisor})) PromiseAxisInfo(division, *info);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
