// SPDX-License-Identifier: Apache-2.0
// Gives dots the encodings of the warp-wide matrix instruction mma.sync:
//
//   %d = tt.dot %a, %b, %c : tensor<64x32xf16, #dot_op<0, #blocked>> * … -> tensor<64x64xf32, #blocked>
//   ->
//   %x = ttg.convert_layout %a : … -> #dot_op<0, #mma, kWidth = 2>      (from before its conversion to #blocked's)
//   %y = ttg.convert_layout %b : … -> #dot_op<1, #mma, kWidth = 2>
//   %z = ttg.convert_layout %c : #blocked -> #mma
//   %e = tt.dot %x, %y, %z     : … -> tensor<64x64xf32, #mma>
//   %d = ttg.convert_layout %e : #mma -> #blocked
//
// The conversions of accumulators vanish in the next removal of conversions, which carries #mma through the loops.
//
// Which dots: those of f16, bf16, s8 and fp8 operands, and of f32 operands that may be rounded to tf32; the others stay
// with multiply-adds. fp8 operands become f16 where the GPU has no instruction for them or where the dot asks for sums
// of full precision, which the fp8 instruction does not keep.
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/passes.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/SliceAnalysis.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ACCELERATEMATMULPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kTileM = 16, kTileN = 8;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool IsFp8(mlir::Type type) { return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type); }

// Whether a dot's result goes into operand a of another one, as in attention: then each warp should hold whole rows, so
// that no element changes its warp in between.
bool FeedsAnotherDot(tt::DotOp dot) {
  mlir::ForwardSliceOptions options;
  options.filter = [&](mlir::Operation* op) { return op->getBlock() == dot->getBlock(); };
  llvm::SetVector<mlir::Operation*> slice;
  mlir::getForwardSlice(dot.getResult(), &slice, options);
  return llvm::any_of(slice, [&](mlir::Operation* op) {
    auto other = llvm::dyn_cast<tt::DotOp>(op);
    return other && other != dot && (slice.contains(other.getA().getDefiningOp()) || other.getA() == dot.getResult());
  });
}

bool IsFedByAnotherDot(tt::DotOp dot) {
  mlir::BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.filter = [&](mlir::Operation* op) { return op->getBlock() == dot->getBlock(); };
  llvm::SetVector<mlir::Operation*> slice;
  mlir::getBackwardSlice(dot.getA(), &slice, options);
  return llvm::any_of(slice, [](mlir::Operation* op) { return llvm::isa<tt::DotOp>(op); });
}

// Splits the warps over rows and columns such that each warp's part is as square as can be: the closer, the fewer
// operand elements it reads.
llvm::SmallVector<unsigned> SplitWarps(llvm::ArrayRef<int64_t> shape, unsigned num_warps, bool rows_only) {
  int rank = shape.size();
  llvm::SmallVector<unsigned> warps(rank, 1);
  int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  for (unsigned used = 1; used < num_warps; used *= 2) {
    if (rank == 3 && warps[0] < shape[0]) {
      warps[0] *= 2;
    } else if (rows_only || (rows >= columns && rows > kTileM) || columns <= kTileN) {
      warps[rank - 2] *= 2;
      rows /= 2;
    } else {
      warps[rank - 1] *= 2;
      columns /= 2;
    }
  }
  return warps;
}

class AcceleratedDot final {
 public:
  AcceleratedDot(tt::DotOp dot, int compute_capability)
      : dot_(dot), b_(dot), compute_capability_(compute_capability), shape_(TypeOf(dot.getD()).getShape()) {}

  void Rewrite() {
    mlir::Type operand = OperandType();
    if (!operand || !Fits(operand)) return;
    int rank = shape_.size();
    llvm::SmallVector<unsigned> instruction(rank, 1);
    instruction[rank - 2] = kTileM;
    instruction[rank - 1] = kTileN;
    auto mma = ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 2, 0,
        SplitWarps(shape_, ttg::NumWarps(dot_), FeedsAnotherDot(dot_) || IsFedByAnotherDot(dot_)), instruction);
    Value a = Operand(dot_.getA(), 0, mma, operand), b = Operand(dot_.getB(), 1, mma, operand);
    Value c = Convert(dot_.getC(), mma);
    auto made = b_.create<tt::DotOp>(dot_.getLoc(), c.getType(), a, b, c, dot_.getInputPrecision(),
                                     dot_.getMaxNumImpreciseAcc());
    Value back = b_.create<ttg::ConvertLayoutOp>(dot_.getLoc(), dot_.getType(), made);
    dot_.replaceAllUsesWith(back);
    dot_.erase();
  }

 private:
  mlir::Type ElementOf(Value value) { return TypeOf(value).getElementType(); }

  // The element type that the operands shall have; null: no instruction. With fp8 operands of two kinds, null too
  // unless they become f16.
  mlir::Type OperandType() {
    mlir::Type a = ElementOf(dot_.getA()), b = ElementOf(dot_.getB()), sum = ElementOf(dot_.getC());
    if (IsFp8(a) && IsFp8(b)) {
      int64_t k = TypeOf(dot_.getA()).getShape().back();
      bool precise = dot_.getMaxNumImpreciseAcc() < k;
      return compute_capability_ >= 89 && !precise && a == b && sum.isF32() ? a : b_.getF16Type();
    }
    if (a != b) return {};
    if (a.isInteger(8)) return sum.isInteger(32) ? a : mlir::Type();
    if (sum.isF64()) return {};
    if (a.isF32()) return dot_.getInputPrecision() == tt::InputPrecision::kTf32 ? a : mlir::Type();
    return a.isF16() || a.isBF16() ? a : mlir::Type();
  }

  // Whether the tile of the instruction is no larger than the matrices.
  bool Fits(mlir::Type operand) {
    int rank = shape_.size();
    int64_t tile_k = 256 / operand.getIntOrFloatBitWidth();
    return llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot_.getD()).getEncoding()) && shape_[rank - 2] >= kTileM &&
           shape_[rank - 1] >= kTileN && TypeOf(dot_.getA()).getShape().back() >= tile_k;
  }

  Value Convert(Value value, mlir::Attribute encoding) {
    RankedTensorType type = TypeOf(value);
    return b_.create<ttg::ConvertLayoutOp>(
        dot_.getLoc(), RankedTensorType::get(type.getShape(), type.getElementType(), encoding), value);
  }

  Value Operand(Value value, unsigned index, ttg::NvidiaMmaEncodingAttr mma, mlir::Type element) {
    if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    unsigned k_width = 32 / element.getIntOrFloatBitWidth();
    if (ElementOf(value) != element)
      value = b_.create<tt::FpToFpOp>(dot_.getLoc(), TypeOf(value).clone(element), value, tt::RoundingModeAttr());
    return Convert(value, ttg::DotOperandEncodingAttr::get(dot_.getContext(), index, mma, k_width));
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  int compute_capability_;
  llvm::SmallVector<int64_t> shape_;
};

class AccelerateMatmulPass : public impl::AccelerateMatmulPassBase<AccelerateMatmulPass> {
 public:
  using AccelerateMatmulPassBase::AccelerateMatmulPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) AcceleratedDot(dot, compute_capability).Rewrite();
  }
};

}  // namespace
}  // namespace tritond::compiler
