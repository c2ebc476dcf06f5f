// SPDX-License-Identifier: Apache-2.0
// The default region of a ttg.warp_specialize runs on the warps that come to it. So it becomes blocks of the function,
// between the start of the partitions and the point that waits for their end:
//
//   %r = ttg.warp_specialize(%a) …                     %t = "ttg.start_partitions"(%a) <{…}> ({
//   default {                                          ^bb0(%b: i32):
//     …                                                  …
//     ttg.warp_yield %x : i32                    ->      ttg.warp_return
//   }                                                  }) : (i32) -> !ttg.async.token
//   partition0(%b: i32) num_warps(4) {                 cf.br ^default
//     …                                              ^default:
//     ttg.warp_return                                  …
//   } : (i32) -> i32                                   ttg.join_partitions %t
//   tt.return                                          cf.br ^after(%x : i32)
//                                                    ^after(%r: i32):
//                                                      tt.return
//
// What follows then sees a function, and beside it partitions that see nothing but their arguments. Runs on cf control
// flow. The warps of partitions wait at the beginning of a kernel (lowering/partitions.cc), so partitions neither start
// partitions nor call functions, and only kernels start them.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SPLITWARPSPECIALIZEPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Block;
using mlir::LogicalResult;
using ttg::WarpSpecializeOp;

LogicalResult Check(WarpSpecializeOp op) {
  auto function = llvm::dyn_cast<tt::FuncOp>(op->getParentOp());
  if (!function) return op.emitOpError("is not supported inside of other operations or partitions");
  if (!function.isPublic()) return op.emitOpError("is not supported in functions that kernels call; inline them");
  if (!op.getWarpGroupStartIds()) return op.emitOpError("has partitions without warps");
  ttg::WarpSpecializePartitionsOp partitions = op.Partitions();
  for (mlir::Type type : partitions.getOperandTypes())
    if (llvm::isa<mlir::RankedTensorType, ttg::AsyncTokenType>(type))
      return op.emitOpError() << "captures a value of type " << type
                              << ", which other warps cannot see; pass tensors in shared memory";
  LogicalResult result = mlir::success();
  partitions->walk([&](tt::CallOp call) {
    result = call.emitOpError("is not supported in partitions; inline the function");
    return mlir::WalkResult::interrupt();
  });
  return result;
}

ttg::StartPartitionsOp Start(WarpSpecializeOp op) {
  mlir::OpBuilder b(op);
  ttg::WarpSpecializePartitionsOp partitions = op.Partitions();
  auto start = ttg::StartPartitionsOp::create(b, op.getLoc(), ttg::AsyncTokenType::get(op.getContext()),
                                              partitions.getOperands(), op.getPartitionNumWarpsAttr(),
                                              op.getWarpGroupStartIdsAttr(), op.getActualRegistersAttr(),
                                              partitions.getPartitionRegions().size());
  for (auto [to, from] : llvm::zip(start.getPartitionRegions(), partitions.getPartitionRegions())) to.takeBody(from);
  return start;
}

void Split(WarpSpecializeOp op) {
  ttg::StartPartitionsOp start = Start(op);
  Block* before = op->getBlock();
  Block* after = before->splitBlock(op);
  for (mlir::Value result : op.getResults())
    result.replaceAllUsesWith(after->addArgument(result.getType(), op.getLoc()));
  mlir::OpBuilder b(op.getContext());
  b.setInsertionPointToEnd(before);
  mlir::cf::BranchOp::create(b, op.getLoc(), &op.getDefaultRegion().front());
  for (Block& block : op.getDefaultRegion()) {
    auto yield = llvm::dyn_cast<ttg::WarpYieldOp>(block.getTerminator());
    if (!yield) continue;
    b.setInsertionPoint(yield);
    ttg::JoinPartitionsOp::create(b, yield.getLoc(), start.getToken());
    mlir::cf::BranchOp::create(b, yield.getLoc(), after, yield.getValues());
    yield.erase();
  }
  after->getParent()->getBlocks().splice(after->getIterator(), op.getDefaultRegion().getBlocks());
  op.erase();
}

struct SplitWarpSpecializePass : impl::SplitWarpSpecializePassBase<SplitWarpSpecializePass> {
  void runOnOperation() override {
    llvm::SmallVector<WarpSpecializeOp> ops;
    getOperation().walk([&](WarpSpecializeOp op) { ops.push_back(op); });
    for (WarpSpecializeOp op : ops)
      if (failed(Check(op))) return signalPassFailure();
    for (WarpSpecializeOp op : ops) Split(op);
  }
};

}  // namespace
}  // namespace tritond::compiler
