// SPDX-License-Identifier: Apache-2.0
// Makes threads wait where one would touch memory that another may still read or write.
//
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
// becomes
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   ttg.barrier local                                 // all have read %a before any writes %b to the same place
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
//
// Global memory counts where threads may access each other's data by pointers from the same argument of the kernel:
//
//   tt.store %p, %x : tensor<32x!tt.ptr<f32>, #b>   // by one warp; the others hold copies
//   ttg.barrier all
//   %y = tt.load %p : tensor<32x!tt.ptr<f32>, #b>   // by all warps
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
      for (const MissingBarrier& barrier : *places) {
        mlir::OpBuilder b(barrier.before);
        ttg::BarrierOp::create(b, barrier.before->getLoc(), barrier.orders_global ? "all" : "local");
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
