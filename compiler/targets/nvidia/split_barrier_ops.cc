// SPDX-License-Identifier: Apache-2.0
// The split barriers of ttng, by an mbarrier that counts a warp's arrival as one (PTX ISA, "mbarrier"):
//
//   init     thread 0: mbarrier.init, as many arrivals as there are warps
//   arrive   warp barrier; lane 0: mbarrier.arrive, which releases what the warp's lanes did before
//   wait     again: mbarrier.try_wait.parity; if not, again
//   end      thread 0: mbarrier.inval
#include "compiler/targets/nvidia/split_barrier_ops.h"

#include "compiler/lowering/branches.h"
#include "compiler/lowering/shared_access.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::LogicalResult;
using mlir::Value;

Value AddressOf(FunctionLowering& f, Value barrier) {
  return LLVM::PtrToIntOp::create(f.e.b, f.e.loc, f.e.b.getI32Type(), PlaceOf(f, barrier).base);
}

Value IsZero(Emitter& e, Value value) {
  return LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::eq, value, e.Int(0));
}

Value IsFirstThread(FunctionLowering& f) { return IsZero(f.e, f.target.ThreadId(f.e.b, f.e.loc)); }

// "mbarrier.<operation> [barrier]<rest>" where `condition` holds, after the statements `first`.
void EmitWhere(FunctionLowering& f, Value condition, Value barrier, const std::string& operation,
               const std::string& rest = "", const std::string& first = "") {
  PtxBuilder ptx(f.e.b, f.e.loc);
  const std::string address = ptx.AddInput(AddressOf(f, barrier)), predicate = ptx.AddPredicate(condition);
  ptx.Emit(first + "@" + predicate + " mbarrier." + operation + "[" + address + "]" + rest + ";",
           /*touches_memory=*/true);
}

LogicalResult LowerInit(FunctionLowering& f, ttng::SplitBarrierInitOp op) {
  EmitWhere(f, IsFirstThread(f), op.getBarrier(), "init.shared::cta.b64 ", ", " + std::to_string(ttg::NumWarps(op)));
  return mlir::success();
}

LogicalResult LowerArrive(FunctionLowering& f, ttng::SplitBarrierArriveOp op) {
  // One statement: the fence in front of it (order_async_proxy.cc) is one of all lanes.
  EmitWhere(f, IsZero(f.e, f.Lane()), op.getBarrier(), "arrive.shared::cta.b64 _, ", "", "bar.warp.sync 0xffffffff;\n");
  return mlir::success();
}

LogicalResult LowerWait(FunctionLowering& f, ttng::SplitBarrierWaitOp op) {
  Emitter& e = f.e;
  Value address = AddressOf(f, op.getBarrier()), phase = f.Scalar(op.getPhase());
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* again = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  LLVM::BrOp::create(e.b, e.loc, again);
  e.b.setInsertionPointToEnd(again);
  PtxBuilder ptx(e.b, e.loc);
  const std::string over = ptx.AddOutput(e.b.getI32Type()), at = ptx.AddInput(address), parity = ptx.AddInput(phase);
  llvm::SmallVector<Value> result = ptx.Emit("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [" + at +
                                                 "], " + parity + ";\nselp.b32 " + over + ", 1, 0, p;\n}",
                                             /*touches_memory=*/true);
  LLVM::CondBrOp::create(e.b, e.loc, IsZero(e, result[0]), again, after);
  e.b.setInsertionPointToStart(after);
  return mlir::success();
}

LogicalResult LowerEnd(FunctionLowering& f, ttng::SplitBarrierEndOp op) {
  EmitWhere(f, IsFirstThread(f), op.getBarrier(), "inval.shared::cta.b64 ");
  return mlir::success();
}

}  // namespace

void AddSplitBarrierOps(LoweringTable& table) {
  table.Add<ttng::SplitBarrierInitOp>(LowerInit);
  table.Add<ttng::SplitBarrierArriveOp>(LowerArrive);
  table.Add<ttng::SplitBarrierWaitOp>(LowerWait);
  table.Add<ttng::SplitBarrierEndOp>(LowerEnd);
}

}  // namespace tritond::compiler::nvidia
