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
// A read that is converted to another type is converted in the loop, too. A loop needs what it carries, the operands
// that it does not change, and the other operands and the accumulators of its largest dot. Of the other operands only
// one step along K counts where each is read at its use (`reads_late`). The buffer then lives as long as the loop;
// nothing is done where that takes too much shared memory. All buffers of a function together are asked first. Where
// they are too many, as those of two versions of a loop, its frame is: buffers share their places there.
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SINKOPERANDREADSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Value;

struct SinkOperandReadsPass : impl::SinkOperandReadsPassBase<SinkOperandReadsPass> {
  using SinkOperandReadsPassBase::SinkOperandReadsPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      // More than the kernel needs.
      const bool fits = AllocatedBytes(function) <= max_buffer_bytes;
      if (!fits && max_frame_bytes == 0) continue;
      llvm::SmallVector<Sunk> sunk;
      function.walk([&](mlir::scf::ForOp loop) { SinkInto(loop, sunk); });
      if (sunk.empty()) continue;
      if (!fits && FrameBytes(function).value_or(max_frame_bytes + 1) > max_frame_bytes) {
        for (Sunk& read : llvm::reverse(sunk)) read.Undo();
      } else {
        llvm::SmallPtrSet<mlir::Operation*, 8> erased;  // two dots may have taken one read
        for (const Sunk& read : sunk) EraseUnused(read.made, erased);
      }
    }
  }

  // An operand of a dot in a loop.
  struct Sunk {
    mlir::OpOperand* operand;
    Value before;
    llvm::SmallVector<mlir::Operation*> made;    // what made it outside of the loop, last first
    llvm::SmallVector<mlir::Operation*> copies;  // what makes it now, last first

    void Undo() {
      operand->set(before);
      for (mlir::Operation* op : copies) op->erase();
    }
  };

  static void EraseUnused(llvm::ArrayRef<mlir::Operation*> made, llvm::SmallPtrSetImpl<mlir::Operation*>& erased) {
    for (mlir::Operation* op : made) {
      if (erased.contains(op)) continue;
      if (!op->use_empty()) return;
      erased.insert(op);
      op->erase();
    }
  }

  void SinkInto(mlir::scf::ForOp loop, llvm::SmallVectorImpl<Sunk>& sunk) const {
    if (RegistersOfDots(loop, reads_late ? Operands::kStep : Operands::kWhole) <= registers) return;
    for (auto dot : loop.getBody()->getOps<tt::DotOpInterface>()) {
      for (mlir::OpOperand* operand : dot.Inputs()) {
        llvm::SmallVector<mlir::Operation*> made = MadeOfRead(operand->get());
        if (made.empty() || !loop.isDefinedOutsideOfLoop(made.front()->getResult(0))) continue;
        mlir::OpBuilder b(dot);
        mlir::IRMapping mapping;
        Sunk read{operand, operand->get(), made, {}};
        for (mlir::Operation* op : llvm::reverse(made)) read.copies.insert(read.copies.begin(), b.clone(*op, mapping));
        operand->set(mapping.lookup(operand->get()));
        sunk.push_back(read);
      }
    }
  }

  // What makes `value`, last first, if that is a read of a buffer that stays as it is, perhaps converted to another
  // type.
  static llvm::SmallVector<mlir::Operation*> MadeOfRead(Value value) {
    llvm::SmallVector<mlir::Operation*> made;
    while (mlir::Operation* op = value.getDefiningOp()) {
      made.push_back(op);
      if (auto read = llvm::dyn_cast<ttg::LocalLoadOp>(op)) {
        if (read.getSrc().getType().getMutableMemory()) break;
        return made;
      }
      if (!llvm::isa<mlir::CastOpInterface>(op) || op->getNumOperands() != 1 || !mlir::isPure(op)) break;
      value = op->getOperand(0);
    }
    return {};
  }
};

}  // namespace
}  // namespace tritond::compiler
