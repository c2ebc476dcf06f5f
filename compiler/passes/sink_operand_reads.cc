// SPDX-License-Identifier: Apache-2.0
// A matrix operand that a loop does not change is read from its buffer once, before the loop. It stays in registers all
// the while. Where the loop needs more registers than a thread has, it is read again in each iteration. This costs less
// than registers that go to memory and back:
//
//   %x = ttg.local_load %m : … -> tensor<128x64xf16, #ttg.dot_op<…>>
//   scf.for … {
//     %d = tt.dot %x, %y, %z
//   }
//   ->
//   scf.for … {
//     %x = ttg.local_load %m : … -> tensor<128x64xf16, #ttg.dot_op<…>>
//     %d = tt.dot %x, %y, %z
//   }
//
// A loop needs what it carries, the operands that it does not change, and the other operands and the accumulators of
// its largest dot. The buffer then lives as long as the loop; nothing is done where that could take too much shared
// memory.
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SINKOPERANDREADSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

int64_t BytesOf(ttg::MemDescType type) {
  int64_t elements = 1;
  for (int64_t size : type.getAllocShape()) elements *= size;
  mlir::Type element = type.getElementType();
  return elements * (element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64) / 8;
}

struct SinkOperandReadsPass : impl::SinkOperandReadsPassBase<SinkOperandReadsPass> {
  using SinkOperandReadsPassBase::SinkOperandReadsPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      // All buffers at once: more than the kernel needs.
      int64_t bytes = 0;
      function.walk([&](ttg::LocalAllocOp alloc) { bytes += BytesOf(alloc.getType()); });
      if (bytes > max_buffer_bytes) continue;
      function.walk([&](mlir::scf::ForOp loop) { SinkInto(loop); });
    }
  }

  void SinkInto(mlir::scf::ForOp loop) const {
    int64_t carried = 0, largest = 0;
    for (Value value : loop.getRegionIterArgs()) carried += RegistersOf(value);
    llvm::SmallVector<std::pair<ttg::LocalLoadOp, mlir::OpOperand*>> reads;
    llvm::SmallPtrSet<mlir::Operation*, 4> seen;
    for (auto dot : loop.getBody()->getOps<tt::DotOpInterface>()) {
      // Accumulators that go on from what the loop carries take its place.
      int64_t needs = loop.isDefinedOutsideOfLoop(dot.getC()) ? RegistersOf(dot.getD()) : 0;
      for (mlir::OpOperand* operand : dot.Inputs()) {
        auto read = operand->get().getDefiningOp<ttg::LocalLoadOp>();
        if (!loop.isDefinedOutsideOfLoop(operand->get())) {
          needs += RegistersOf(operand->get());
          continue;
        }
        if (seen.insert(operand->get().getDefiningOp()).second) carried += RegistersOf(operand->get());
        if (read && !read.getSrc().getType().getMutableMemory()) reads.emplace_back(read, operand);
      }
      largest = std::max(largest, needs);
    }
    if (carried + largest <= registers) return;
    for (auto [read, operand] : reads) {
      mlir::OpBuilder b(operand->getOwner());
      operand->set(b.clone(*read)->getResult(0));
      if (read->use_empty()) read->erase();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
