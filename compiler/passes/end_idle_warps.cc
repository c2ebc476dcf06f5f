// SPDX-License-Identifier: Apache-2.0
// Ends warps that hold nothing but copies of what other warps hold, as in a block of 128 threads for tensors of 64
// elements. They would load and compute all that, and store nothing.
//
//   tt.func public @kernel(…) {                     tt.func public @kernel(…) {
//     %p = … : tensor<64x!tt.ptr<f32>, #four>         %warp = ttg.warp_id
//     …                                       =>      %copy = arith.andi %warp, 2
//   }                                                 %idle = arith.cmpi ne, %copy, 0
//                                                     cf.cond_br %idle, ^end, ^body
//                                                   …
//
// Of the threads that hold an element the first one writes it, which is never in such a warp. So it holds of kernels
// whose threads do not meet: without shared memory, barriers, calls, and whatever else each thread has to take part in.
// Copies that load what another thread stores would take barriers. Where none is missing once they have ended, they
// end. Runs on cf control flow, when shared memory is known and before barriers are inserted.
#include "compiler/analysis/global_accesses.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/threads_apart.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ENDIDLEWARPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Value;

// The bits of a warp's number that say nothing about what it holds of `value`.
int CopyBits(Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type) return -1;
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const Coordinates masks = layout.FreeVariableMasks();
  for (auto [dim, mask] : llvm::zip_equal(layout.InDims(), masks))
    if (dim.name == "warp") return mask;
  return -1;
}

// The bits of the number of a warp that is of no use. None where threads meet.
int IdleBits(tt::FuncOp function) {
  int bits = ttg::NumWarps(function) - 1;
  for (Block& block : function.getBody()) {
    for (Value argument : block.getArguments()) bits &= CopyBits(argument);
    for (Operation& op : block) {
      if (!IsApart(op)) return 0;
      for (Value result : op.getResults()) bits &= CopyBits(result);
    }
  }
  return bits;
}

// Marks the function, and ends these warps if the others need no barriers.
void EndWarps(tt::FuncOp function, int bits) {
  mlir::Builder attributes(function.getContext());
  function->setAttr(kEndedWarpsAttr, attributes.getI32IntegerAttr(bits));
  auto places = FindMissingBarriers(function);
  if (failed(places) || !places->empty()) {
    function->removeAttr(kEndedWarpsAttr);
    return;
  }
  EndThreads(function, [&](mlir::OpBuilder& b) -> Value {
    mlir::Location loc = function.getLoc();
    const auto constant = [&](int value) -> Value { return mlir::arith::ConstantIntOp::create(b, loc, value, 32); };
    Value warp = ttg::WarpIdOp::create(b, loc, b.getI32Type());
    Value copy = mlir::arith::AndIOp::create(b, loc, warp, constant(bits));
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne, copy, constant(0));
  });
}

struct EndIdleWarpsPass : impl::EndIdleWarpsPassBase<EndIdleWarpsPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (!MayEndThreads(module)) return;
    for (auto function : module.getOps<tt::FuncOp>()) {
      if (!IsWholeKernel(function)) continue;
      if (const int bits = IdleBits(function)) EndWarps(function, bits);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
