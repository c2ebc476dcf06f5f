// SPDX-License-Identifier: Apache-2.0
// An operand that is loaded ahead of the dots before its own waits in registers, and goes to its buffer when its dot
// comes. Where its block needs more registers than a thread has, it goes there at once, also if it is turned first:
//
//   scf.for … {                                         scf.for … {
//     %k = tt.load %p                                     %k = tt.load %p
//     %v = tt.load %q                                     %v = tt.load %q
//     %a = ttg.local_alloc %k                             %b = ttg.local_alloc %v
//     %s = tt.dot %x, %a, …                       ->      %a = ttg.local_alloc %k
//     …                                                   %s = tt.dot %x, %a, …
//     %b = ttg.local_alloc %v                             …
//     %d = tt.dot %y, %b, …                               %d = tt.dot %y, %b, …
//   }                                                   }
//
// All loads are on their way before the first buffer waits for one. The buffers are there together then; nothing is
// done where this could take too much shared memory.
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FILLBUFFERSEARLYPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;

// What the alloc holds before it is turned for it alone.
mlir::Value SourceOf(ttg::LocalAllocOp alloc) {
  auto trans = alloc.getSrc() ? alloc.getSrc().getDefiningOp<tt::TransOp>() : tt::TransOp();
  return trans && trans->hasOneUse() && trans->getBlock() == alloc->getBlock() ? trans.getSrc() : alloc.getSrc();
}

// The operation behind the load and all loads that follow it; null if the alloc is there already, or is of no load.
Operation* PlaceOf(ttg::LocalAllocOp alloc) {
  auto load = alloc.getSrc() ? SourceOf(alloc).getDefiningOp<tt::LoadOp>() : tt::LoadOp();
  if (!load || load->getBlock() != alloc->getBlock()) return nullptr;
  Operation* place = load->getNextNode();
  while (llvm::isa<tt::LoadOp, ttg::LocalAllocOp, tt::TransOp>(place) && place != alloc.getOperation())
    place = place->getNextNode();
  return place == alloc.getOperation() ? nullptr : place;
}

void Fill(mlir::Block& block) {
  for (auto alloc : llvm::make_early_inc_range(block.getOps<ttg::LocalAllocOp>())) {
    Operation* place = PlaceOf(alloc);
    if (!place) continue;
    Operation* turned = SourceOf(alloc) == alloc.getSrc() ? nullptr : alloc.getSrc().getDefiningOp();
    if (turned && place->isBeforeInBlock(turned)) turned->moveBefore(place);
    alloc->moveBefore(place);
  }
}

struct FillBuffersEarlyPass : impl::FillBuffersEarlyPassBase<FillBuffersEarlyPass> {
  using FillBuffersEarlyPassBase::FillBuffersEarlyPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      // More than the kernel needs.
      if (AllocatedBytes(function) > max_buffer_bytes) continue;
      function.walk([&](mlir::Block* block) {
        if (!block->getOps<ttg::LocalAllocOp>().empty() && PeakRegisters(*block) > registers) Fill(*block);
      });
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
