// SPDX-License-Identifier: Apache-2.0
// mbarriers (PTX ISA, "mbarrier"). One thread of those that run an operation makes a mbarrier or arrives at it, for all
// of them. Barriers order the others with it (insert_barriers.cc). All of them wait.
//
//   ttng.arrive_barrier %b, 2         ->   @%is_first mbarrier.arrive.shared::cta.b64 _, [%b], 2;
//   ttng.arrive_barrier_by_warps %b   ->   bar.warp.sync 0xffffffff; @%is_lane_0 mbarrier.arrive.shared::cta.b64 _,
//   [%b];
#include "compiler/targets/nvidia/mbarriers.h"

#include "compiler/targets/nvidia/first_thread.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::LogicalResult;
using mlir::Value;

// `before` [address] `after`, by the first thread where `predicate` (null: always) holds.
void EmitByFirstThread(FunctionLowering& f, Value buffer, Value predicate, const std::string& before,
                       const std::string& after) {
  Value acts = IsFirstThread(f, predicate);
  PtxBuilder ptx(f.e.b, f.e.loc);
  std::string address = AddSharedAddress(f, ptx, buffer);
  ptx.Emit("@" + ptx.AddPredicate(acts) + " " + before + address + after, /*touches_memory=*/true);
}

// Other blocks of a cluster.
LogicalResult RefuseClusters(mlir::Operation* op, bool asks) {
  return asks ? op->emitOpError("is not supported for other blocks of a cluster") : mlir::success();
}

// Whether one more mbarrier is made next: one fence is enough for all.
bool IsFollowedByInit(mlir::Operation* op) {
  mlir::Operation* next = op->getNextNode();
  while (next && (mlir::isPure(next) || llvm::isa<ttg::LocalAllocOp>(next))) next = next->getNextNode();
  return llvm::isa_and_present<ttng::InitBarrierOp>(next);
}

LogicalResult LowerInit(FunctionLowering& f, ttng::InitBarrierOp op) {
  EmitByFirstThread(f, op.getAlloc(), {}, "mbarrier.init.shared::cta.b64 ", ", " + std::to_string(op.getCount()) + ";");
  // Copies that arrive at it take the other path to shared memory.
  if (!IsFollowedByInit(op))
    PtxBuilder(f.e.b, f.e.loc).Emit("fence.mbarrier_init.release.cluster;", /*touches_memory=*/true);
  return mlir::success();
}

LogicalResult LowerInval(FunctionLowering& f, ttng::InvalBarrierOp op) {
  EmitByFirstThread(f, op.getAlloc(), {}, "mbarrier.inval.shared::cta.b64 ", ";");
  return mlir::success();
}

LogicalResult LowerExpect(FunctionLowering& f, ttng::BarrierExpectOp op) {
  if (failed(RefuseClusters(op, op.getFromCTA().has_value()))) return mlir::failure();
  EmitByFirstThread(f, op.getAlloc(), f.Scalar(op.getPred()), "mbarrier.arrive.expect_tx.shared::cta.b64 _, ",
                    ", " + std::to_string(op.getSize()) + ";");
  return mlir::success();
}

LogicalResult LowerArrive(FunctionLowering& f, ttng::ArriveBarrierOp op) {
  if (failed(RefuseClusters(op, op.getFromCTA() || op.getMulticastCTA()))) return mlir::failure();
  EmitByFirstThread(f, op.getAlloc(), op.getPred() ? f.Scalar(op.getPred()) : Value(),
                    "mbarrier.arrive.shared::cta.b64 _, ", ", " + std::to_string(op.getCount()) + ";");
  return mlir::success();
}

// One statement: the fence in front of it (order_async_proxy.cc) is one of all lanes.
LogicalResult LowerArriveByWarps(FunctionLowering& f, ttng::ArriveBarrierByWarpsOp op) {
  PtxBuilder ptx(f.e.b, f.e.loc);
  std::string address = AddSharedAddress(f, ptx, op.getAlloc());
  std::string acts = ptx.AddPredicate(f.e.Equal(f.Lane(), f.e.Int(0)));
  ptx.Emit("bar.warp.sync 0xffffffff;\n@" + acts + " mbarrier.arrive.shared::cta.b64 _, " + address + ";",
           /*touches_memory=*/true);
  return mlir::success();
}

// A loop of blocks: ptxas gives the kernel fewer registers than with one in the statement.
LogicalResult LowerWait(FunctionLowering& f, ttng::WaitBarrierOp op) {
  namespace LLVM = mlir::LLVM;
  Emitter& e = f.e;
  Value phase = f.Scalar(op.getPhase()), waits = op.getPred() ? f.Scalar(op.getPred()) : Value();
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* again = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  waits ? (void)LLVM::CondBrOp::create(e.b, e.loc, waits, again, after) : (void)LLVM::BrOp::create(e.b, e.loc, again);
  e.b.setInsertionPointToEnd(again);
  PtxBuilder ptx(e.b, e.loc);
  const std::string over = ptx.AddOutput(e.b.getI32Type());
  const std::string address = AddSharedAddress(f, ptx, op.getAlloc()), parity = ptx.AddInput(phase);
  llvm::SmallVector<Value> result = ptx.Emit("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, " +
                                                 address + ", " + parity + ";\nselp.b32 " + over + ", 1, 0, p;\n}",
                                             /*touches_memory=*/true);
  LLVM::CondBrOp::create(e.b, e.loc, e.Equal(result[0], e.Int(0)), again, after);
  e.b.setInsertionPointToStart(after);
  return mlir::success();
}

LogicalResult LowerCopyArrive(FunctionLowering& f, ttng::AsyncCopyMbarrierArriveOp op) {
  PtxBuilder ptx(f.e.b, f.e.loc);
  std::string name = std::string("cp.async.mbarrier.arrive") + (op.getNoIncrement() ? ".noinc" : "");
  ptx.Emit(name + ".shared::cta.b64 " + AddSharedAddress(f, ptx, op.getBarrier()) + ";", /*touches_memory=*/true);
  return mlir::success();
}

LogicalResult LowerFence(FunctionLowering& f, ttng::FenceAsyncSharedOp op) {
  if (failed(RefuseClusters(op, op.getBCluster()))) return mlir::failure();
  EmitIntrinsic(f.e.b, f.e.loc, "llvm.nvvm.fence.proxy.async.shared_cta", nullptr, {});
  return mlir::success();
}

LogicalResult LowerGlobalFence(FunctionLowering& f, ttng::FenceAsyncGlobalOp /*op*/) {
  EmitIntrinsic(f.e.b, f.e.loc, "llvm.nvvm.fence.proxy.async.global", nullptr, {});
  return mlir::success();
}

}  // namespace

void AddMbarriers(LoweringTable& table) {
  table.Add<ttng::InitBarrierOp>(LowerInit);
  table.Add<ttng::InvalBarrierOp>(LowerInval);
  table.Add<ttng::BarrierExpectOp>(LowerExpect);
  table.Add<ttng::ArriveBarrierOp>(LowerArrive);
  table.Add<ttng::ArriveBarrierByWarpsOp>(LowerArriveByWarps);
  table.Add<ttng::WaitBarrierOp>(LowerWait);
  table.Add<ttng::AsyncCopyMbarrierArriveOp>(LowerCopyArrive);
  table.Add<ttng::FenceAsyncSharedOp>(LowerFence);
  table.Add<ttng::FenceAsyncGlobalOp>(LowerGlobalFence);
}

}  // namespace tritond::compiler::nvidia
