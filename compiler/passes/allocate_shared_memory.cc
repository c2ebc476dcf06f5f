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
// other.
//
// Runs after every pass that makes or removes operations with scratch. How places are chosen: analysis/allocation.cc.
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion_parts.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "compiler/passes/passes.h.inc"

namespace {

class AllocateSharedMemoryPass : public impl::AllocateSharedMemoryPassBase<AllocateSharedMemoryPass> {
 public:
  using AllocateSharedMemoryPassBase::AllocateSharedMemoryPassBase;

 private:
  void runOnOperation() override {
    do {
      if (failed(AllocateSharedMemory(getOperation()))) return signalPassFailure();
    } while (IsTooMuch() && HalveLargestConversion());
  }

  bool IsTooMuch() {
    auto bytes = getOperation()->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr);
    return max_bytes > 0 && bytes && bytes.getInt() > max_bytes;
  }

  // False where no conversion has more parts.
  bool HalveLargestConversion() {
    ttg::ConvertLayoutOp largest;
    getOperation().walk([&](ttg::ConvertLayoutOp op) {
      const int64_t bytes = ScratchBytes(op);
      if (bytes > 0 && (!largest || bytes > ScratchBytes(largest)) && HasParts(op, ConversionPartBits(op) + 1))
        largest = op;
    });
    if (!largest) return false;
    mlir::Builder b(largest);
    largest->setAttr(kConversionPartsAttr, b.getI32IntegerAttr(ConversionPartBits(largest) + 1));
    return true;
  }

  static bool HasParts(ttg::ConvertLayoutOp op, int32_t bits) {
    const LinearLayout src = ttg::ToLinearLayout(op.getSrc().getType());
    return FindConversionParts(src, ttg::ToLinearLayout(op.getType()), bits).has_value();
  }
};

}  // namespace
}  // namespace tritond::compiler
