// SPDX-License-Identifier: Apache-2.0
// Moves what a loop computes anew in each iteration, with the same result, in front of it. MLIR's own motion does this
// for operations without effects. Remainders say then that they may have any divisor (ir/speculation.h). Here loads
// follow, where nothing in the loop writes memory or synchronises:
//
//   scf.for %i = %lb to %ub step %s {                    %enter = arith.cmpi slt, %lb, %ub : i32
//     %v = tt.load %p, %m : tensor<128x!tt.ptr<f32>>  -> %k = arith.andi %m, (splat %enter)
//     use %v                                             %v = tt.load %p, %k : tensor<128x!tt.ptr<f32>>
//   }                                                    scf.for … { use %v }
//
// A loop that runs no iteration must not load. Unless its bounds show that it runs, the load gets the loop's own
// condition as a mask. Volatile loads stay, as do loads under a condition inside the loop. A loop with `licm = <disable
// = true>` in its llvm.loop_annotation is left alone.
#include "compiler/ir/speculation.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_iterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

bool IsHoistingDisabled(mlir::Operation* loop) {
  auto annotation = loop->getAttrOfType<mlir::LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  auto licm = annotation ? annotation.getLicm() : mlir::LLVM::LoopLICMAttr();
  return licm && licm.getDisable() && licm.getDisable().getValue();
}

bool IsBlockPointer(mlir::Type type) {
  auto ptr = llvm::dyn_cast<tt::PtrType>(type);
  return ptr && llvm::isa<RankedTensorType>(ptr.getPointeeType());
}

bool IsInvariant(tt::LoadOp load, ForOp loop) {
  return !load.getIsVolatile() && !IsBlockPointer(load.getPtr().getType()) &&
         llvm::all_of(load->getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); });
}

// The load's mask, and the loop's condition to be entered.
Value GuardedMask(mlir::OpBuilder& b, tt::LoadOp load, ForOp loop) {
  Value enters =
      arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  if (auto type = llvm::dyn_cast<RankedTensorType>(tt::MaskTypeOf(load.getPtr().getType())))
    enters = tt::SplatOp::create(b, load.getLoc(), type, enters);
  return load.getMask() ? arith::AndIOp::create(b, load.getLoc(), load.getMask(), enters).getResult() : enters;
}

void HoistLoads(ForOp loop) {
  if (!OnlyReads(loop)) return;
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<tt::LoadOp>())) {
    if (!IsInvariant(load, loop)) continue;
    mlir::OpBuilder b(loop);
    load->moveBefore(loop);
    if (CertainlyRuns(loop)) continue;
    b.setInsertionPoint(load);
    load.getMaskMutable().assign(GuardedMask(b, load, loop));
  }
}

void HoistPure(mlir::LoopLikeOpInterface loop) {
  auto counted = llvm::dyn_cast<ForOp>(loop.getOperation());
  const bool runs = counted && CertainlyRuns(counted);
  mlir::moveLoopInvariantCode(
      loop.getLoopRegions(), [&](Value value, mlir::Region*) { return loop.isDefinedOutsideOfLoop(value); },
      [](mlir::Operation* op, mlir::Region*) { return mlir::isMemoryEffectFree(op) && mlir::isSpeculatable(op); },
      [&](mlir::Operation* op, mlir::Region*) {
        loop.moveOutOfLoop(op);
        if (!runs) MarkSpeculated(op);
      });
}

class HoistInvariantsPass : public impl::HoistInvariantsPassBase<HoistInvariantsPass> {
  void runOnOperation() override {
    // Inner loops first: what leaves them may leave the outer ones too.
    getOperation().walk([](mlir::LoopLikeOpInterface loop) {
      if (IsHoistingDisabled(loop)) return;
      HoistPure(loop);
      auto counted = llvm::dyn_cast<ForOp>(loop.getOperation());
      if (!counted) return;
      HoistLoads(counted);
      HoistPure(loop);  // what depended on the loads alone
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
