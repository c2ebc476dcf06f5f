// SPDX-License-Identifier: Apache-2.0
// Turns a dot of microscaled operands into a plain one, for targets whose matrix unit knows no scales (OCP Microscaling
// Formats specification 1.0):
//
//   %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16
//   ->
//   %w = tt.fp_to_fp %a                                          : f8E4M3FN -> bf16
//   %p = bits of 2 ^ (%s - 127)                                  : tensor<MxGxbf16>
//   %q = tt.reshape (tt.broadcast (tt.expand_dims %p))           : tensor<MxKxbf16>, each scale once for its group
//   %d = tt.dot (arith.mulf %w, %q), %b, %c
//
// Dots for which the target has a matrix instruction stay as they are (kept-tiles): products of e4m3, e5m2 and e2m1,
// packed along K, that are whole tiles of it, with scales of the instruction's kind or none. Of "mx" these are powers
// of two, of "nvfp4" e4m3 with operands of e2m1 alone.
//
// - The operands become bf16, in which every fp8 and fp4 number and every scale but the two smallest is a normal number
//   and the products are exact. With an fp16 operand both become f32 and the dot is tf32, which holds fp16 as it is.
// - A scale is i8 (e8m0: a power of two; 255 is NaN) or a float. 2^-127, code 0, is subnormal.
// - e2m1 comes two a byte, the low half first, along K or along the other dimension: ttg.fp4_to_fp takes them apart.
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DECOMPOSESCALEDDOTPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
using tt::ScaleDotElemType;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// One operand of the dot: its elements of format `element` with K as dimension `k_dim`.
struct Operand {
  Value value, scale;  // scale: null or tensor<rows x groups>
  ScaleDotElemType element;
  int k_dim;
  bool packed_along_k;
};

class Decomposer final {
 public:
  explicit Decomposer(tt::DotScaledOp op) : op_(op), b_(op), loc_(op.getLoc()) {}

  LogicalResult Run() {
    int rank = TypeOf(op_.getC()).getRank();
    for (ScaleDotElemType element : {op_.getAElemType(), op_.getBElemType()}) {
      if (element == ScaleDotElemType::kE2M3 || element == ScaleDotElemType::kE3M2)
        return op_.emitOpError() << "has operands of format " << tt::stringifyScaleDotElemType(element)
                                 << ", which is not supported; e4m3, e5m2, e2m1, bf16 and fp16 are";
    }
    bool half = op_.getAElemType() == ScaleDotElemType::kFp16 || op_.getBElemType() == ScaleDotElemType::kFp16;
    float_ = half ? mlir::FloatType(b_.getF32Type()) : b_.getBF16Type();
    Operand a{op_.getA(), op_.getAScale(), op_.getAElemType(), rank - 1, op_.getLhsKPack()};
    Operand b{op_.getB(), op_.getBScale(), op_.getBElemType(), rank - 2, op_.getRhsKPack()};
    mlir::FailureOr<Value> x = Widen(a), y = Widen(b);
    if (failed(x) || failed(y)) return mlir::failure();
    auto precision = half ? tt::InputPrecision::kTf32 : tt::InputPrecision::kIeee;
    auto dot = tt::DotOp::create(b_, loc_, op_.getType(), *x, *y, op_.getC(), precision, /*maxNumImpreciseAcc=*/0);
    op_.replaceAllUsesWith(dot.getResult());
    op_.erase();
    return mlir::success();
  }

 private:
  Value Cast(Value value, mlir::FloatType to) {
    auto from = llvm::cast<mlir::FloatType>(TypeOf(value).getElementType());
    if (from == to) return value;
    RankedTensorType type = TypeOf(value).clone(to);
    if (from.getWidth() == 8) return tt::FpToFpOp::create(b_, loc_, type, value, tt::RoundingModeAttr());
    if (from.getWidth() < to.getWidth()) return arith::ExtFOp::create(b_, loc_, type, value);
    return arith::TruncFOp::create(b_, loc_, type, value);
  }

  Value Constant(Value like, int64_t value) {
    return arith::ConstantOp::create(
        b_, loc_, mlir::DenseElementsAttr::get(TypeOf(like), b_.getIntegerAttr(TypeOf(like).getElementType(), value)));
  }
  Value Equals(Value x, int64_t value) {
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, x, Constant(x, value));
  }
  Value ShiftLeft(Value x, int bits) { return arith::ShLIOp::create(b_, loc_, x, Constant(x, bits)); }

  // The bits of `x`, a tensor of as wide integers, as floats.
  Value AsFloat(Value x) { return tt::BitcastOp::create(b_, loc_, TypeOf(x).clone(float_), x); }
  // The unsigned bytes `x` as integers of the float's width.
  Value AsBits(Value x) {
    return arith::ExtUIOp::create(b_, loc_, TypeOf(x).clone(b_.getIntegerType(float_.getWidth())), x);
  }
  int MantissaBits() { return float_.getFPMantissaWidth() - 1; }

  // Bytes of two e2m1 codes each to twice as many floats along dimension `dim`.
  Value UnpackE2m1(Value bytes, int dim) {
    llvm::SmallVector<int64_t> shape(TypeOf(bytes).getShape());
    shape[dim] *= 2;
    return ttg::Fp4ToFpOp::create(b_, loc_, RankedTensorType::get(shape, float_), bytes, dim);
  }

  Value Transpose(Value value, llvm::ArrayRef<int32_t> order) {
    llvm::SmallVector<int64_t> shape;
    for (int32_t dim : order) shape.push_back(TypeOf(value).getDimSize(dim));
    return tt::TransOp::create(b_, loc_, TypeOf(value).clone(shape), value, order);
  }

  Value Reshape(Value value, llvm::ArrayRef<int64_t> shape) {
    return tt::ReshapeOp::create(b_, loc_, RankedTensorType::get(shape, TypeOf(value).getElementType()), value);
  }

  Value DecodeScale(Value scale) {
    if (llvm::isa<mlir::FloatType>(TypeOf(scale).getElementType())) return Cast(scale, float_);
    Value code = AsBits(scale);
    int mantissa = MantissaBits();
    Value bits = ShiftLeft(code, mantissa);
    bits = arith::SelectOp::create(b_, loc_, Equals(code, 0), Constant(code, int64_t{1} << (mantissa - 1)), bits);
    bits = arith::SelectOp::create(b_, loc_, Equals(code, 255), Constant(code, int64_t{511} << (mantissa - 1)), bits);
    return AsFloat(bits);
  }

  // `scale` (rows x groups) with each group's value once for each of its elements, and K as the operand's dimension.
  Value SpreadScale(Value scale, int64_t k_size, bool k_is_last) {
    int rank = TypeOf(scale).getRank();
    llvm::SmallVector<int64_t> shape(TypeOf(scale).getShape());
    int64_t group = k_size / shape.back();
    shape.push_back(1);
    Value spread = tt::ExpandDimsOp::create(b_, loc_, RankedTensorType::get(shape, float_), scale, rank);
    shape.back() = group;
    spread = tt::BroadcastOp::create(b_, loc_, RankedTensorType::get(shape, float_), spread);
    shape.pop_back();
    shape.back() = k_size;
    spread = Reshape(spread, shape);
    if (k_is_last) return spread;
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank));
    std::swap(order[rank - 1], order[rank - 2]);
    return Transpose(spread, order);
  }

  // The operand's elements in the type of the dot, scaled.
  mlir::FailureOr<Value> Widen(const Operand& operand) {
    int rank = TypeOf(operand.value).getRank();
    Value wide = operand.value;
    if (operand.element == ScaleDotElemType::kE2M1) {
      if (!TypeOf(wide).getElementType().isInteger(8))
        return op_.emitOpError("has an e2m1 operand that is no tensor of i8"), mlir::failure();
      wide = UnpackE2m1(wide, operand.packed_along_k ? operand.k_dim : 2 * rank - 3 - operand.k_dim);
    } else {
      wide = Cast(AsFloats(wide, operand.element), float_);
    }
    if (!operand.scale) return wide;
    int64_t k_size = TypeOf(wide).getDimSize(operand.k_dim), groups = TypeOf(operand.scale).getShape().back();
    if (k_size % groups)
      return op_.emitOpError() << "has " << groups << " scales for " << k_size << " elements along K";
    Value scale = SpreadScale(DecodeScale(operand.scale), k_size, operand.k_dim == rank - 1);
    return Value(arith::MulFOp::create(b_, loc_, wide, scale));
  }

  // Operands of 8 bits may come as i8.
  Value AsFloats(Value value, ScaleDotElemType element) {
    if (!TypeOf(value).getElementType().isInteger()) return value;
    mlir::Type type = element == ScaleDotElemType::kE4M3   ? mlir::Type(b_.getType<mlir::Float8E4M3FNType>())
                      : element == ScaleDotElemType::kE5M2 ? mlir::Type(b_.getType<mlir::Float8E5M2Type>())
                      : element == ScaleDotElemType::kFp16 ? mlir::Type(b_.getF16Type())
                                                           : mlir::Type(b_.getBF16Type());
    return tt::BitcastOp::create(b_, loc_, TypeOf(value).clone(type), value);
  }

  tt::DotScaledOp op_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  mlir::FloatType float_;
};

// A matrix instruction that takes scales, as in "mx:16x16x128:32".
struct ScaledTile {
  bool is_nvfp4 = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t group = 0;  // elements along K that have one scale
};

std::optional<ScaledTile> ParseTile(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 3> parts, sizes;
  text.split(parts, ':');
  if (parts.size() != 3) return std::nullopt;
  parts[1].split(sizes, 'x');
  ScaledTile tile;
  tile.is_nvfp4 = parts[0] == "nvfp4";
  if ((!tile.is_nvfp4 && parts[0] != "mx") || sizes.size() != 3 || sizes[0].getAsInteger(10, tile.m) ||
      sizes[1].getAsInteger(10, tile.n) || sizes[2].getAsInteger(10, tile.k) || parts[2].getAsInteger(10, tile.group) ||
      tile.m <= 0 || tile.n <= 0 || tile.k <= 0 || tile.group <= 0)
    return std::nullopt;
  return tile;
}

// Whether the instruction takes an operand with such elements and scales.
bool IsNativeOperand(const ScaledTile& tile, ScaleDotElemType element, bool packed_along_k, Value scale, int64_t k) {
  const bool is_fp4 = element == ScaleDotElemType::kE2M1;
  if (is_fp4 ? !packed_along_k
             : tile.is_nvfp4 || (element != ScaleDotElemType::kE4M3 && element != ScaleDotElemType::kE5M2))
    return false;
  if (!scale) return true;
  const mlir::Type type = TypeOf(scale).getElementType();
  return (tile.is_nvfp4 ? llvm::isa<mlir::Float8E4M3FNType>(type) : type.isInteger(8)) &&
         TypeOf(scale).getShape().back() * tile.group == k;
}

bool IsNative(tt::DotScaledOp op, const ScaledTile& tile) {
  llvm::ArrayRef<int64_t> shape = TypeOf(op.getC()).getShape();
  const int64_t m = shape[shape.size() - 2], n = shape.back();
  const int64_t k =
      TypeOf(op.getA()).getShape().back() * (op.getAElemType() == ScaleDotElemType::kE2M1 && op.getLhsKPack() ? 2 : 1);
  return IsNativeOperand(tile, op.getAElemType(), op.getLhsKPack(), op.getAScale(), k) &&
         IsNativeOperand(tile, op.getBElemType(), op.getRhsKPack(), op.getBScale(), k) && m % tile.m == 0 &&
         n % tile.n == 0 && k % tile.k == 0;
}

class DecomposeScaledDotPass : public impl::DecomposeScaledDotPassBase<DecomposeScaledDotPass> {
 public:
  using DecomposeScaledDotPassBase::DecomposeScaledDotPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<ScaledTile> tiles;
    for (const std::string& text : kept_tiles) {
      const std::optional<ScaledTile> tile = ParseTile(text);
      if (!tile) {
        getOperation().emitError() << "kept-tiles: '" << text << "' is no mx:MxNxK:GROUP or nvfp4:MxNxK:GROUP";
        return signalPassFailure();
      }
      tiles.push_back(*tile);
    }
    llvm::SmallVector<tt::DotScaledOp> ops;
    getOperation().walk([&](tt::DotScaledOp op) { ops.push_back(op); });
    for (tt::DotScaledOp op : ops) {
      const bool is_kept = llvm::any_of(tiles, [&](const ScaledTile& tile) { return IsNative(op, tile); });
      if (!is_kept && failed(Decomposer(op).Run())) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
