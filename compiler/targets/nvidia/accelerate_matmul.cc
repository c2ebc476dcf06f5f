// SPDX-License-Identifier: Apache-2.0
// Gives dots the encodings of the matrix instructions: nvidia_mma version 2 is mma.sync, which a warp does by itself:
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
// Version 3 is wgmma of sm_90: four warps together, whose operands form_warp_group_dots.cc then leaves in shared
// memory. It is taken where its tiles fill the result, and where operands that are not of 16 bits have K contiguous.
//
// Which dots: those of f16, bf16, s8 and fp8 operands, and of f32 operands that may be rounded to tf32; the others stay
// with multiply-adds. fp8 operands become f16 where the GPU has no instruction for them or where the dot asks for sums
// of full precision, which the fp8 instruction does not keep, be it after some elements of K (maxNumImpreciseAcc).
#include "compiler/ir/encodings.h"
#include "compiler/passes/dot_warps.h"
#include "compiler/targets/nvidia/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ACCELERATEMATMULPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kTileM = 16, kTileN = 8;
// wgmma: rows of a tile, the most columns, bytes of K, warps of a group; the bytes that stand together in a buffer.
constexpr int64_t kGroupTileM = 64, kMaxGroupTileN = 256, kGroupTileKBytes = 32, kGroupWarps = 4, kMinRowBytes = 32;
// Sums of a thread: with more there is no room for what else it needs.
constexpr int64_t kMaxGroupSums = 128;
constexpr int kFirstWithWarpGroups = 90, kLastWithWarpGroups = 90;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool IsFp8(mlir::Type type) { return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type); }

class AcceleratedDot final {
 public:
  AcceleratedDot(tt::DotOp dot, int compute_capability)
      : dot_(dot), b_(dot), compute_capability_(compute_capability), shape_(TypeOf(dot.getD()).getShape()) {}

  void Rewrite() {
    mlir::Type operand = OperandType();
    if (!operand || !Fits(operand)) return;
    bool rows_only = FeedsAnotherDot(dot_) || IsFedByAnotherDot(dot_);
    ttg::NvidiaMmaEncodingAttr mma = GroupEncoding(operand, rows_only);
    if (!mma) mma = WarpEncoding(rows_only);
    Value a = Operand(dot_.getA(), 0, mma, operand), b = Operand(dot_.getB(), 1, mma, operand);
    Value c = Convert(dot_.getC(), mma);
    auto made = tt::DotOp::create(b_, dot_.getLoc(), c.getType(), a, b, c, dot_.getInputPrecision(),
                                  dot_.getMaxNumImpreciseAcc());
    Value back = ttg::ConvertLayoutOp::create(b_, dot_.getLoc(), dot_.getType(), made);
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
      bool precise = dot_.getMaxNumImpreciseAcc() <= k;
      return compute_capability_ >= 89 && !precise && a == b && sum.isF32() ? a : b_.getF16Type();
    }
    if (a != b) return {};
    if (a.isInteger(8)) return sum.isInteger(32) ? a : mlir::Type();
    if (sum.isF64()) return {};
    if (a.isF32()) return dot_.getInputPrecision() == tt::InputPrecision::kTf32 ? a : mlir::Type();
    return a.isF16() || a.isBF16() ? a : mlir::Type();
  }

  // mma.sync's.
  ttg::NvidiaMmaEncodingAttr WarpEncoding(bool rows_only) {
    int rank = shape_.size();
    llvm::SmallVector<unsigned> instruction(rank, 1);
    instruction[rank - 2] = kTileM;
    instruction[rank - 1] = kTileN;
    return ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 2, 0, SplitWarps(shape_, ttg::NumWarps(dot_), rows_only, kTileM, kTileN), instruction);
  }

  // wgmma's; null where it does not fit.
  ttg::NvidiaMmaEncodingAttr GroupEncoding(mlir::Type operand, bool rows_only) {
    int64_t num_warps = ttg::NumWarps(dot_), bits = operand.getIntOrFloatBitWidth();
    if (compute_capability_ < kFirstWithWarpGroups || compute_capability_ > kLastWithWarpGroups) return {};
    if (shape_.size() != 2 || num_warps % kGroupWarps != 0 || shape_[0] % kGroupTileM != 0) return {};
    if (TypeOf(dot_.getA()).getShape().back() * bits < kGroupTileKBytes * 8) return {};
    if (!CanStandInBuffer(dot_.getA(), 1, bits) || !CanStandInBuffer(dot_.getB(), 0, bits)) return {};
    if (shape_[0] * shape_[1] > kMaxGroupSums * num_warps * 32) return {};
    // Groups below each other, as far as there are rows; then side by side.
    int64_t rows = kGroupWarps, columns = 1;
    while (rows * columns < num_warps) (rows_only || rows * kTileM < shape_[0]) ? rows *= 2 : columns *= 2;
    if (rows * kTileM > shape_[0] || columns * kTileN > shape_[1]) return {};
    unsigned n = std::min(shape_[1] / columns, kMaxGroupTileN);
    return ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 3, 0, {static_cast<unsigned>(rows), static_cast<unsigned>(columns)},
        {static_cast<unsigned>(kTileM), n, static_cast<unsigned>(kGroupTileKBytes * 8 / bits)});
  }

  // Whether wgmma can read the operand, whose K is dimension `k`, from a buffer that keeps its order.
  bool CanStandInBuffer(Value value, unsigned k, int64_t bits) {
    if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    RankedTensorType type = TypeOf(value);
    auto blocked = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding());
    unsigned contiguous = blocked ? blocked.getOrder()[0] : k;
    return (bits == 16 || contiguous == k) && type.getDimSize(contiguous) * bits / 8 >= kMinRowBytes;
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
    return ttg::ConvertLayoutOp::create(b_, dot_.getLoc(),
                                        RankedTensorType::get(type.getShape(), type.getElementType(), encoding), value);
  }

  Value Operand(Value value, unsigned index, ttg::NvidiaMmaEncodingAttr mma, mlir::Type element) {
    if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    unsigned k_width = 32 / element.getIntOrFloatBitWidth();
    if (ElementOf(value) != element)
      value = tt::FpToFpOp::create(b_, dot_.getLoc(), TypeOf(value).clone(element), value, tt::RoundingModeAttr());
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
