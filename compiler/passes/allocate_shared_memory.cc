// SPDX-License-Identifier: Apache-2.0
// Gives every buffer, scratch area and called function's frame its place in shared memory.
//
//   %a = ttg.convert_layout %x : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked1>
//   %b = ttg.convert_layout %a : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked2>
// becomes, in a module with ttg.shared = 4096, since the first conversion is over when the second begins,
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
//
// Where that is more than a block can have, the largest conversions work on parts of their tensors, one after the
// other. So they do where loops carry more than threads have registers, if the block then needs less:
//
//   of a multiprocessor   | shared memory of the block | cache |     what threads lack registers for passes the cache
//                         |      64 KiB of buffers     |       |     in each iteration, and memory where it is too
//                         small |    128 KiB of scratch    ->
//
// Runs after every pass that makes or removes operations with scratch. How places are chosen: analysis/allocation.cc.
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion_parts.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "compiler/passes/passes.h.inc"

namespace {

// That a thread can have.
constexpr int64_t kMostRegisters = 255;
// Of a thread: a part less than that saves little, and costs two barriers as any other.
constexpr int64_t kLeastPartBytes = 128;

class AllocateSharedMemoryPass : public impl::AllocateSharedMemoryPassBase<AllocateSharedMemoryPass> {
 public:
  using AllocateSharedMemoryPassBase::AllocateSharedMemoryPassBase;

 private:
  void runOnOperation() override {
    do {
      if (failed(AllocateSharedMemory(getOperation()))) return signalPassFailure();
    } while (IsTooMuch() && HalveLargestConversion());
    if (!LacksRegisters()) return;
    bool saves = true;
    while (saves) {
      mlir::FailureOr<bool> less = SaveByHalving();
      if (failed(less)) return signalPassFailure();
      saves = *less;
    }
  }

  int64_t SharedBytes() {
    auto bytes = getOperation()->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr);
    return bytes ? bytes.getInt() : 0;
  }

  // Whether a loop carries a tensor of which a thread has more than it has registers: accumulators, as a rule.
  bool LacksRegisters() {
    if (registers == 0) return false;
    mlir::WalkResult result = getOperation().walk([&](mlir::Block* block) {
      const bool lacks = !block->isEntryBlock() && llvm::any_of(block->getArguments(), [&](mlir::BlockArgument value) {
        auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
        if (!type || !llvm::isa<mlir::FloatType>(type.getElementType())) return false;
        mlir::Operation* op = block->getParentOp();
        const int64_t threads = static_cast<int64_t>(ttg::NumWarps(op)) * ttg::ThreadsPerWarp(op);
        return RegistersOf(value) > std::min(kMostRegisters, registers / threads);
      });
      return lacks ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  // Halves the largest conversion if the block then needs less, and says whether it does.
  mlir::FailureOr<bool> SaveByHalving() {
    const int64_t before = SharedBytes();
    ttg::ConvertLayoutOp largest = LargestConversion();
    if (!largest) return false;
    const int64_t threads = static_cast<int64_t>(ttg::NumWarps(largest)) * ttg::ThreadsPerWarp(largest);
    if (ScratchBytes(largest) < 2 * kLeastPartBytes * threads) return false;
    mlir::Attribute parts = largest->getAttr(kConversionPartsAttr);
    Halve(largest);
    if (failed(AllocateSharedMemory(getOperation()))) return mlir::failure();
    if (SharedBytes() < before) return true;
    if (parts)
      largest->setAttr(kConversionPartsAttr, parts);
    else
      largest->removeAttr(kConversionPartsAttr);
    if (failed(AllocateSharedMemory(getOperation()))) return mlir::failure();
    return false;
  }

  bool IsTooMuch() { return max_bytes > 0 && SharedBytes() > max_bytes; }

  // False where no conversion has more parts.
  bool HalveLargestConversion() {
    ttg::ConvertLayoutOp largest = LargestConversion();
    if (largest) Halve(largest);
    return static_cast<bool>(largest);
  }

  // Of those that have more parts.
  ttg::ConvertLayoutOp LargestConversion() {
    ttg::ConvertLayoutOp largest;
    getOperation().walk([&](ttg::ConvertLayoutOp op) {
      const int64_t bytes = ScratchBytes(op);
      if (bytes > 0 && (!largest || bytes > ScratchBytes(largest)) && HasParts(op, ConversionPartBits(op) + 1))
        largest = op;
    });
    return largest;
  }

  static void Halve(ttg::ConvertLayoutOp op) {
    mlir::Builder b(op);
    op->setAttr(kConversionPartsAttr, b.getI32IntegerAttr(ConversionPartBits(op) + 1));
  }

  static bool HasParts(ttg::ConvertLayoutOp op, int32_t bits) {
    const LinearLayout src = ttg::ToLinearLayout(op.getSrc().getType());
    return FindConversionParts(src, ttg::ToLinearLayout(op.getType()), bits).has_value();
  }
};

}  // namespace
}  // namespace tritond::compiler
