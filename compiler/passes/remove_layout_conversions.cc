// SPDX-License-Identifier: Apache-2.0
// Chooses encodings for whole regions of the program, so that few conversions remain.
//
// Before it, each operation has the encoding that suits it alone, with conversions around it:
//
//   %p1 = ttg.convert_layout %p : #default -> #load          %v  = tt.load %p : …, #load
//   %v1 = tt.load %p1 : …, #load                       =>    %y  = arith.addf %v, %v : …, #load
//   %v  = ttg.convert_layout %v1 : #load -> #default         tt.store %q, %y : …, #load
//   %y  = arith.addf %v, %v : …, #default
//   …
//
// 1. layout_propagation.cc labels every tensor anew, from the operations whose encodings matter.
// 2. repeated_loads.cc makes conversions of loads that an earlier run has made twice.
// 3. branch_conversions.cc moves conversions into the branches whose results they convert.
// 4. layout_rematerialization.cc moves each conversion that is left to where it costs least, out of loops at least.
// 5. Equal conversions and copies become one.
//
// Encodings never change what a program computes, so whatever these steps choose is right; they are only faster or
// slower. A device function's parameters and results keep their encodings, so functions are treated one by one.
#include "compiler/encoding/branch_conversions.h"
#include "compiler/encoding/layout_propagation.h"
#include "compiler/encoding/layout_rematerialization.h"
#include "compiler/encoding/repeated_loads.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REMOVELAYOUTCONVERSIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

struct RemoveLayoutConversionsPass final : impl::RemoveLayoutConversionsPassBase<RemoveLayoutConversionsPass> {
  void runOnOperation() override {
    mlir::IRRewriter rewriter(&getContext());
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      if (func.isExternal()) continue;
      PropagateEncodings(func);
      ConvertRepeatedLoads(func);
      MoveConversionsIntoBranches(func);
      MoveConversions(func);
      mlir::DominanceInfo dominance(func);
      mlir::eliminateCommonSubExpressions(rewriter, dominance, func);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
