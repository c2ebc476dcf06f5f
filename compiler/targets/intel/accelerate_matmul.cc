// SPDX-License-Identifier: Apache-2.0
// Gives dots the encoding of the matrix instruction:
//
//   %d = tt.dot %a, %b, %c : tensor<64x32xf16, #dot_op<0, #blocked>> * … -> tensor<64x64xf32, #blocked>
//   ->
//   %x = ttg.convert_layout %a : … -> #dot_op<0, #dpas, kWidth = 1>      (from before its conversion to #blocked's)
//   %y = ttg.convert_layout %b : … -> #dot_op<1, #dpas, kWidth = 2>
//   %z = ttg.convert_layout %c : #blocked -> #dpas
//   %e = tt.dot %x, %y, %z     : … -> tensor<64x64xf32, #dpas>
//   %d = ttg.convert_layout %e : #dpas -> #blocked
//
// The conversions of accumulators vanish in the next removal of conversions, which carries the encoding through loops.
//
// Which dots: all for whose operands there is an instruction, and whose shape holds a tile. Floats of 8 bits become
// f16, which holds all their values.
#include "compiler/ir/encodings.h"
#include "compiler/passes/dot_warps.h"
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
    const intel::MatrixRow* row = operand ? intel::FindMatrixRow(device_, operand) : nullptr;
    if (!row || !Fits(*row, operand)) return;
    ttg::DistributedEncoding encoding = Encoding(*row);
    Value a = Operand(dot_.getA(), 0, encoding, operand), b = Operand(dot_.getB(), 1, encoding, operand);
    Value c = Convert(dot_.getC(), encoding);
    auto made = tt::DotOp::create(b_, dot_.getLoc(), c.getType(), a, b, c, dot_.getInputPrecision(),
                                  dot_.getMaxNumImpreciseAcc());
    Value back = ttg::ConvertLayoutOp::create(b_, dot_.getLoc(), dot_.getType(), made);
    dot_.replaceAllUsesWith(back);
    dot_.erase();
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
    const int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
    return rows >= intel::kTileRows && columns >= intel::kTileColumns &&
           TypeOf(dot_.getA()).getShape().back() >= row.depth();
  }

  ttg::DistributedEncoding Encoding(const intel::MatrixRow& row) {
    RankedTensorType type = TypeOf(dot_.getD());
    const bool rows_only = FeedsAnotherDot(dot_) || IsFedByAnotherDot(dot_);
    auto warps = SplitWarps(type.getShape(), ttg::NumWarps(dot_), rows_only, intel::kTileRows, intel::kTileColumns);
    return ttg::DpasEncodingAttr::get(dot_.getContext(), intel::kTileRows, intel::kSystolicDepth, intel::kTileColumns,
                                      row.per_channel, device_.lanes, warps,
                                      llvm::SmallVector<unsigned>(type.getRank(), 1), ttg::SingleBlock(type.getRank()));
  }

  Value Convert(Value value, mlir::Attribute encoding) {
    RankedTensorType type = TypeOf(value);
    return ttg::ConvertLayoutOp::create(b_, dot_.getLoc(),
                                        RankedTensorType::get(type.getShape(), type.getElementType(), encoding), value);
  }

  Value Operand(Value value, unsigned index, ttg::DistributedEncoding parent, mlir::Type element) {
    if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    const unsigned width = ttg::DpasKWidth(llvm::cast<ttg::DpasEncodingAttr>(parent), index);
    value = Convert(value, ttg::DotOperandEncodingAttr::get(dot_.getContext(), index, parent, width));
    if (ElementOf(value) == element) return value;
    // Behind the conversion, which then moves half as much through shared memory.
    return tt::FpToFpOp::create(b_, dot_.getLoc(), TypeOf(value).clone(element), value, tt::RoundingModeAttr());
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
