// SPDX-License-Identifier: Apache-2.0
// Gives dots the encoding of the matrix instruction (ReformDot, dots/dot_form.h).
//
// Which dots: all for whose operands there is an instruction, and whose K is as long as it. Floats of 8 bits become
// f16, which holds all their values. Tiles have as few rows as the dot; of fewer columns than a tile has, several lanes
// compute each.
#include "compiler/dots/dot_form.h"
#include "compiler/dots/dot_warps.h"
#include "compiler/targets/intel/matrix_instructions.h"
#include "compiler/targets/intel/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_INTELACCELERATEMATMULPASS
#include "compiler/targets/intel/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }
mlir::Type ElementOf(Value value) { return TypeOf(value).getElementType(); }

bool IsFloat8(mlir::Type type) {
  auto number = llvm::dyn_cast<mlir::FloatType>(type);
  return number && number.getWidth() == 8;
}

class AcceleratedDot final {
 public:
  AcceleratedDot(tt::DotOp dot, const intel::Device& device) : dot_(dot), b_(dot), device_(device) {}

  void Rewrite() {
    mlir::Type operand = OperandType();
    const intel::MatrixRow* row = operand ? intel::FindMatrixRow(device_, intel::MatrixTypeOf(dot_, operand)) : nullptr;
    if (!row || !Fits(*row, operand)) return;
    ttg::DpasEncodingAttr encoding = Encoding(*row);
    ReformDot(dot_, {encoding, operand, operand, ttg::DpasKWidth(encoding, 0), ttg::DpasKWidth(encoding, 1)});
  }

 private:
  // That both operands get; null: they have none in common.
  mlir::Type OperandType() {
    mlir::Type a = ElementOf(dot_.getA()), b = ElementOf(dot_.getB());
    if (IsFloat8(a) && IsFloat8(b)) return b_.getF16Type();
    return a == b ? a : mlir::Type();
  }

  bool Fits(const intel::MatrixRow& row, mlir::Type operand) {
    RankedTensorType type = TypeOf(dot_.getD());
    if (!llvm::isa_and_present<ttg::BlockedEncodingAttr>(type.getEncoding())) return false;
    mlir::Type sum = type.getElementType();
    if (operand.isInteger(8) ? !sum.isInteger(32) : !sum.isF32() && !sum.isF16() && !sum.isBF16()) return false;
    return TypeOf(dot_.getA()).getShape().back() >= row.depth();
  }

  ttg::DpasEncodingAttr Encoding(const intel::MatrixRow& row) {
    RankedTensorType type = TypeOf(dot_.getD());
    const int tile_rows = row.TileRows(type.getDimSize(type.getRank() - 2), device_.lanes);
    auto warps = SplitWarps(type.getShape(), ttg::NumWarps(dot_), WholeInWarps(dot_), tile_rows, device_.lanes);
    return ttg::DpasEncodingAttr::get(dot_.getContext(), tile_rows, intel::kSystolicDepth, device_.lanes,
                                      row.per_channel, device_.lanes, warps,
                                      llvm::SmallVector<unsigned>(type.getRank(), 1), ttg::SingleBlock(type.getRank()));
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  const intel::Device& device_;
};

class IntelAccelerateMatmulPass : public impl::IntelAccelerateMatmulPassBase<IntelAccelerateMatmulPass> {
 public:
  using IntelAccelerateMatmulPassBase::IntelAccelerateMatmulPassBase;

 private:
  void runOnOperation() override {
    const intel::Architecture* found = nullptr;
    for (const intel::Architecture& each : intel::kArchitectures)
      if (arch == each.name) found = &each;
    if (!found) {
      getOperation().emitError() << "no architecture '" << arch.getValue() << "'";
      return signalPassFailure();
    }
    const intel::Device device = {*found, ttg::ThreadsPerWarp(getOperation())};
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) AcceleratedDot(dot, device).Rewrite();
  }
};

}  // namespace
}  // namespace tritond::compiler
