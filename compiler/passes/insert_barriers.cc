// SPDX-License-Identifier: Apache-2.0
// Makes threads wait where one would touch shared memory that another may still read or write.
//
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
// becomes
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   ttg.barrier local                                 // all have read %a before any writes %b to the same place
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
//
// Runs on cf control flow, after allocation. Which places need a barrier: analysis/barriers.cc.
#include "compiler/analysis/barriers.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "compiler/passes/passes.h.inc"

namespace {

struct InsertBarriersPass : impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      auto places = FindMissingBarriers(function);
      if (failed(places)) return signalPassFailure();
      for (mlir::Operation* op : *places) {
        mlir::OpBuilder b(op);
        ttg::BarrierOp::create(b, op->getLoc(), "local");
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
