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
//
// Threads that meet in the entry block alone, as to share the columns of a tile, may end after that. Only what follows
// has to be copies then. It has to be more than a few instructions, and to need no barrier.
#include "compiler/analysis/global_accesses.h"
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
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

// Of the registers that all results after the last meeting take: less is not worth a branch.
constexpr int64_t kLeastRegisters = 32;

bool Meets(Operation& op) { return !IsApart(op) || ScratchBytes(&op) != 0; }

// The operations after the last one at which threads meet, if that is in the entry block.
struct Rest {
  Block::iterator begin;  // in the entry block; the other blocks follow
  int idle_bits = 0;      // of the number of a warp that is of no use for them
  int64_t registers = 0;  // that their results take

  static Rest Of(tt::FuncOp function);
  bool Holds(Operation* op) const {
    return op->getBlock() != begin->getBlock() || op == &*begin || begin->isBeforeInBlock(op);
  }
};

Rest Rest::Of(tt::FuncOp function) {
  Block& entry = function.getBody().front();
  Rest rest{entry.begin(), ttg::NumWarps(function) - 1};
  for (Operation& op : entry)
    if (Meets(op)) rest.begin = std::next(op.getIterator());
  for (Block& block : function.getBody()) {
    for (Value argument : block.getArguments()) rest.idle_bits &= &block == &entry ? -1 : CopyBits(argument);
    for (Operation& op : block) {
      if (!rest.Holds(&op)) continue;
      if (Meets(op)) rest.idle_bits = 0;
      for (Value operand : op.getOperands()) rest.idle_bits &= CopyBits(operand);
      for (Value result : op.getResults()) {
        rest.idle_bits &= CopyBits(result);
        rest.registers += RegistersOf(result);
      }
    }
  }
  return rest;
}

// Whether the rest needs no barriers once the warps have ended. Then marks the function, if these run nothing else.
bool NeedsNoBarriers(tt::FuncOp function, const Rest& rest) {
  const bool is_all = rest.begin == function.getBody().front().begin();
  mlir::Builder attributes(function.getContext());
  if (is_all) function->setAttr(kEndedWarpsAttr, attributes.getI32IntegerAttr(rest.idle_bits));
  auto places = FindMissingBarriers(function);
  const bool none = succeeded(places) &&
                    llvm::none_of(*places, [&](const MissingBarrier& place) { return rest.Holds(place.before); });
  if (!none) function->removeAttr(kEndedWarpsAttr);
  return none;
}

void EndWarps(tt::FuncOp function, const Rest& rest) {
  EndThreads(function, rest.begin, [&](mlir::OpBuilder& b) -> Value {
    mlir::Location loc = function.getLoc();
    const auto constant = [&](int value) -> Value { return mlir::arith::ConstantIntOp::create(b, loc, value, 32); };
    Value warp = ttg::WarpIdOp::create(b, loc, b.getI32Type());
    Value copy = mlir::arith::AndIOp::create(b, loc, warp, constant(rest.idle_bits));
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne, copy, constant(0));
  });
}

struct EndIdleWarpsPass : impl::EndIdleWarpsPassBase<EndIdleWarpsPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (!IsOneBlock(module)) return;
    for (auto function : module.getOps<tt::FuncOp>()) {
      if (!IsWholeKernel(function)) continue;
      const Rest rest = Rest::Of(function);
      const bool pays = rest.begin == function.getBody().front().begin() || rest.registers >= kLeastRegisters;
      if (rest.idle_bits != 0 && pays && NeedsNoBarriers(function, rest)) EndWarps(function, rest);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
