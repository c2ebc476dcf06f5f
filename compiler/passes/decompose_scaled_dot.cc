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
// Dots for which the target has a matrix instruction stay scaled ones (kept-tiles). They are products of e4m3, e5m2 and
// e2m1 that are whole tiles of it, with scales of the instruction's kind or none. Of "mx" these are powers of two, of
// "nvfp4" e4m3 with operands of e2m1 alone. The instruction takes e2m1 packed along K. Bytes that are packed along the
// rows of a or the columns of b are packed anew; halves of two neighbours along K change places:
//
//   byte (i, k)      row 2i, row 2i + 1 at k              byte (2i, k / 2)      row 2i at k, k + 1
//   byte (i, k + 1)  row 2i, row 2i + 1 at k + 1    ->    byte (2i + 1, k / 2)  row 2i + 1 at k, k + 1
//
// - The operands become bf16, in which every fp8 and fp4 number and every scale but the two smallest is a normal number
//   and the products are exact. With an fp16 operand both become f32 and the dot is tf32, which holds fp16 as it is.
// - A scale is i8 (e8m0: a power of two; 255 is NaN) or a float. 2^-127, code 0, is subnormal.
// - e2m1 comes two a byte, the low half first, along K or along the other dimension: ttg.fp4_to_fp takes them apart.
//   Where the wide operands do not fit into shared memory (max-operand-bytes), it is packed along K as well, in which
//   buffers can hold it (ttg-narrow-operand-buffers).
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

// Makes what a dot shall have instead of its operands.
class OperandBuilder {
 protected:
  explicit OperandBuilder(tt::DotScaledOp op) : b_(op), loc_(op.getLoc()) {}

  Value Transpose(Value value, llvm::ArrayRef<int32_t> order) {
    llvm::SmallVector<int64_t> shape;
    for (int32_t dim : order) shape.push_back(TypeOf(value).getDimSize(dim));
    return tt::TransOp::create(b_, loc_, TypeOf(value).clone(shape), value, order);
  }

  Value Reshape(Value value, llvm::ArrayRef<int64_t> shape) {
    return tt::ReshapeOp::create(b_, loc_, RankedTensorType::get(shape, TypeOf(value).getElementType()), value);
  }

  mlir::OpBuilder b_;
  mlir::Location loc_;
};

class Decomposer final : OperandBuilder {
 public:
  explicit Decomposer(tt::DotScaledOp op) : OperandBuilder(op), op_(op) {}

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
bool IsNativeOperand(const ScaledTile& tile, ScaleDotElemType element, Value scale, int64_t k) {
  const bool is_fp8 = element == ScaleDotElemType::kE4M3 || element == ScaleDotElemType::kE5M2;
  if (element != ScaleDotElemType::kE2M1 && (tile.is_nvfp4 || !is_fp8)) return false;
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
  return IsNativeOperand(tile, op.getAElemType(), op.getAScale(), k) &&
         IsNativeOperand(tile, op.getBElemType(), op.getBScale(), k) && m % tile.m == 0 && n % tile.n == 0 &&
         k % tile.k == 0;
}

// Packs e2m1 codes anew; see above.
class Packer final : OperandBuilder {
 public:
  explicit Packer(tt::DotScaledOp op) : OperandBuilder(op) {}

  // `bytes`: codes of a, in pairs along its rows.
  Value AlongLastDim(Value bytes) {
    llvm::SmallVector<int64_t> shape(TypeOf(bytes).getShape());
    const size_t rank = shape.size();
    shape.back() /= 2;
    shape.push_back(2);
    Value pairs = Exchanged(Reshape(bytes, shape));  // … x rows / 2 x K / 2 x 2, the last one rows again
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank + 1));
    std::swap(order[rank], order[rank - 1]);
    Value rows = Transpose(pairs, order);
    shape.assign(TypeOf(bytes).getShape().begin(), TypeOf(bytes).getShape().end());
    shape[rank - 2] *= 2;
    shape[rank - 1] /= 2;
    return Reshape(rows, shape);
  }

  // `bytes`: codes of b, in pairs along its columns.
  Value AlongLastButOne(Value bytes) {
    llvm::SmallVector<int64_t> shape(TypeOf(bytes).getShape());
    const size_t rank = shape.size();
    shape[rank - 2] /= 2;
    shape.insert(shape.begin() + rank - 1, 2);
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank + 1));
    std::swap(order[rank], order[rank - 1]);
    Value pairs = Exchanged(Transpose(Reshape(bytes, shape), order));  // … x K / 2 x columns / 2 x 2
    shape.assign(TypeOf(bytes).getShape().begin(), TypeOf(bytes).getShape().end());
    shape[rank - 2] /= 2;
    shape[rank - 1] *= 2;
    return Reshape(pairs, shape);
  }

 private:
  // Of each pair of bytes in the last dimension: that of their lower halves, and that of their upper ones.
  Value Exchanged(Value pairs) {
    RankedTensorType type = TypeOf(pairs), half = type.clone(type.getShape().drop_back());
    auto split = tt::SplitOp::create(b_, loc_, half, half, pairs);
    Value first = split.getOutLHS(), second = split.getOutRHS();
    const auto constant = [&](int value) -> Value {
      return arith::ConstantOp::create(
          b_, loc_, mlir::DenseElementsAttr::get(TypeOf(first), llvm::APInt(8, static_cast<uint64_t>(value))));
    };
    Value low = arith::OrIOp::create(b_, loc_, arith::AndIOp::create(b_, loc_, first, constant(0x0f)),
                                     arith::ShLIOp::create(b_, loc_, second, constant(4)));
    Value high = arith::OrIOp::create(b_, loc_, arith::ShRUIOp::create(b_, loc_, first, constant(4)),
                                      arith::AndIOp::create(b_, loc_, second, constant(0xf0)));
    return tt::JoinOp::create(b_, loc_, type, low, high);
  }
};

void PackAlongK(tt::DotScaledOp op) {
  Packer packer(op);
  if (op.getAElemType() == ScaleDotElemType::kE2M1 && !op.getLhsKPack()) {
    op.getAMutable().assign(packer.AlongLastDim(op.getA()));
    op.setLhsKPack(true);
  }
  if (op.getBElemType() == ScaleDotElemType::kE2M1 && !op.getRhsKPack()) {
    op.getBMutable().assign(packer.AlongLastButOne(op.getB()));
    op.setRhsKPack(true);
  }
}

// Bytes of both operands as bf16.
int64_t WideBytes(tt::DotScaledOp op) {
  const auto bytes = [](Value operand, ScaleDotElemType element) {
    return TypeOf(operand).getNumElements() * (element == ScaleDotElemType::kE2M1 ? 4 : 2);
  };
  return bytes(op.getA(), op.getAElemType()) + bytes(op.getB(), op.getBElemType());
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
      const bool is_native = llvm::any_of(tiles, [&](const ScaledTile& tile) { return IsNative(op, tile); });
      if (is_native || WideBytes(op) > max_operand_bytes) PackAlongK(op);
      if (!is_native && failed(Decomposer(op).Run())) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
