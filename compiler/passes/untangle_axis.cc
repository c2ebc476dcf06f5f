// SPDX-License-Identifier: Apache-2.0
// Reductions and scans are lowered for encodings that tell the axis from the other dimensions (IsReducible). For scans,
// the bits of the axis index must also come in an order that they can follow (IsScannable). Encodings that reshapes or
// hand-written IR bring may be neither: bits of two dimensions in one lane bit, warps on both sides of the lanes. Such
// an operation gets operands in the default encoding with the axis in front, and its results are converted back:
//
//   %y = "tt.scan"(%x) <{axis = 0 …}> … : tensor<256xf32, #tangled>
//   ->
//   %a = ttg.convert_layout %x : tensor<256xf32, #tangled> -> tensor<256xf32, #blocked>
//   %b = "tt.scan"(%a) <{axis = 0 …}> … : tensor<256xf32, #blocked>
//   %y = ttg.convert_layout %b : tensor<256xf32, #blocked> -> tensor<256xf32, #tangled>
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_UNTANGLEAXISPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::RankedTensorType;

RankedTensorType WithEncoding(RankedTensorType type, Attribute encoding) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

// One element a thread, neighbouring lanes along `axis`.
Attribute EncodingAlong(mlir::Operation* op, llvm::ArrayRef<int64_t> shape, unsigned axis) {
  llvm::SmallVector<unsigned> ones(shape.size(), 1), order = {axis};
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (dim != axis) order.push_back(dim);
  return ttg::BlockedEncodingAttr::ForShape(op->getContext(), shape, ones, order, ttg::NumWarps(op),
                                            ttg::ThreadsPerWarp(op));
}

// Gives the operands of `op` the encoding `operand` and its results `result`; users see the types of before.
void Reencode(mlir::Operation* op, Attribute operand, Attribute result) {
  mlir::OpBuilder b(op);
  for (mlir::OpOperand& use : op->getOpOperands()) {
    auto type = WithEncoding(llvm::cast<RankedTensorType>(use.get().getType()), operand);
    use.set(ttg::ConvertLayoutOp::create(b, op->getLoc(), type, use.get()));
  }
  b.setInsertionPointAfter(op);
  for (mlir::OpResult value : op->getResults()) {
    auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
    if (!type) continue;  // of a reduction to a scalar
    value.setType(WithEncoding(type, result));
    auto back = ttg::ConvertLayoutOp::create(b, op->getLoc(), type, value);
    value.replaceAllUsesExcept(back, back);
  }
}

class UntangleAxisPass : public impl::UntangleAxisPassBase<UntangleAxisPass> {
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation* op) {
      if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(op)) {
        RankedTensorType type = reduce.InputType();
        if (!type.getEncoding() || IsReducible(ttg::ToLinearLayout(type), reduce.getAxis())) return;
        Attribute encoding = EncodingAlong(op, type.getShape(), reduce.getAxis());
        Reencode(op, encoding, ttg::ResultEncodingFor(op, encoding));
      } else if (auto scan = llvm::dyn_cast<tt::ScanOp>(op)) {
        auto type = llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType());
        if (!type.getEncoding() || IsScannable(ttg::ToLinearLayout(type), scan.getAxis())) return;
        Attribute encoding = EncodingAlong(op, type.getShape(), scan.getAxis());
        Reencode(op, encoding, encoding);
      }
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
