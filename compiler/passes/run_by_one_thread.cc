// SPDX-License-Identifier: Apache-2.0
// Leaves kernels that hold no tensors to their first thread:
//
//   tt.func public @kernel(…) {                     tt.func public @kernel(…) attributes {ttg.one_thread} {
//     %x = tt.load %p : !tt.ptr<i32>                  %thread = arith.ori (ttg.lane_id), (ttg.warp_id)
//     %y = arith.addi %x, %n : i32            =>      %idle = arith.cmpi ne, %thread, 0
//     tt.store %p, %y : !tt.ptr<i32>                  cf.cond_br %idle, ^end, ^body
//   }                                                 …
//
// All threads hold the same numbers, and the first one writes them. If the others read what it writes, they would have
// to wait for it, and it for them, at each access. No barrier is needed for a thread alone. It sees its own stores in
// order. So loads of several iterations may begin at once, where the device's assembler finds that they are apart.
//
// Holds of kernels without shared memory, barriers, calls, and whatever else each thread has to take part in. Runs on
// cf control flow, before barriers are inserted.
#include "compiler/passes/passes.h"
#include "compiler/passes/threads_apart.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_RUNBYONETHREADPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Value;

bool IsNumber(Value value) { return value.getType().isIntOrIndexOrFloat() || llvm::isa<tt::PtrType>(value.getType()); }

bool HoldsNumbersOnly(tt::FuncOp function) {
  return llvm::all_of(function.getBody(), [](mlir::Block& block) {
    return llvm::all_of(block.getArguments(), IsNumber) && llvm::all_of(block, [](mlir::Operation& op) {
             return op.getNumRegions() == 0 && IsApart(op) && llvm::all_of(op.getResults(), IsNumber);
           });
  });
}

// Other kernels end the warps that hold copies (ttg-end-idle-warps), and a warp together is as fast as one of its
// lanes.
bool NeedsBarriers(tt::FuncOp function) {
  auto places = FindMissingBarriers(function);
  return succeeded(places) && !places->empty();
}

struct RunByOneThreadPass : impl::RunByOneThreadPassBase<RunByOneThreadPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (!MayEndThreads(module)) return;
    for (auto function : module.getOps<tt::FuncOp>()) {
      if (!IsWholeKernel(function) || !HoldsNumbersOnly(function) || !NeedsBarriers(function)) continue;
      function->setAttr(ttg::kOneThreadAttr, mlir::UnitAttr::get(&getContext()));
      EndThreads(function, function.getBody().front().begin(), [&](mlir::OpBuilder& b) -> Value {
        mlir::Location loc = function.getLoc();
        Value lane = ttg::LaneIdOp::create(b, loc, b.getI32Type());
        Value warp = ttg::WarpIdOp::create(b, loc, b.getI32Type());
        Value thread = mlir::arith::OrIOp::create(b, loc, lane, warp);
        Value zero = mlir::arith::ConstantIntOp::create(b, loc, 0, 32);
        return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne, thread, zero);
      });
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
