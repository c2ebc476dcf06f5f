// SPDX-License-Identifier: Apache-2.0
// Conversions between number formats.
//
// f16, bf16, f32 and f64 convert by LLVM's operations. The 8-bit formats are integers to LLVM: the target's
// instructions convert them where there are any (float_format.h otherwise).
#include "compiler/analysis/integer_bits.h"
#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/float_format.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::FloatType;
using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;
namespace arith = mlir::arith;

bool IsWide(FloatType type) { return type.getWidth() >= 16; }

// f64 as the bits of the nearest f32, whether they are another number, and whether that is further from zero.
struct NearestF32 {
  Value bits, inexact, too_far;

  NearestF32(Emitter& e, Value x) {
    Value nearest = LLVM::FPTruncOp::create(e.b, e.loc, e.b.getF32Type(), x);
    Value back = LLVM::FPExtOp::create(e.b, e.loc, e.b.getF64Type(), nearest);
    auto magnitude = [&](Value v) { return e.And(e.ToInt(v), e.Int(0x7fffffffffffffff, 64)); };
    bits = e.ToInt(nearest);
    inexact = LLVM::FCmpOp::create(e.b, e.loc, LLVM::FCmpPredicate::one, back, x);
    too_far = e.Compare(LLVM::ICmpPredicate::ugt, magnitude(back), magnitude(x));
  }
};

// Rounds f64 to f32 so that rounding again to a narrower format gives what rounding once would. Inexact results get an
// odd last bit ("round to odd", Boldo and Melquiond, 2008).
Value RoundToOdd(Emitter& e, Value x) {
  NearestF32 nearest(e, x);
  Value even = e.Equal(e.And(nearest.bits, e.Int(1)), e.Int(0));
  Value odd = LLVM::AddOp::create(e.b, e.loc, nearest.bits, e.Select(nearest.too_far, e.Int(-1), e.Int(1)));
  return e.FromInt(e.Select(e.And(nearest.inexact, even), odd, nearest.bits), e.b.getF32Type());
}

// f64 to f32 towards zero: of what lies further out, the neighbour. Infinity's is the largest finite number.
Value RoundTowardsZero(Emitter& e, Value x) {
  NearestF32 nearest(e, x);
  Value neighbour = LLVM::AddOp::create(e.b, e.loc, nearest.bits, e.Int(-1));
  return e.FromInt(e.Select(e.And(nearest.inexact, nearest.too_far), neighbour, nearest.bits), e.b.getF32Type());
}

// Any format as f32; f64 by rounding to odd.
Value ToF32(Emitter& e, Value x, FloatType from) {
  if (!IsWide(from)) return DecodeFloat(e, FloatFormat::Of(from), x);
  if (from.isF64()) return RoundToOdd(e, x);
  return from.isF32() ? x : Value(LLVM::FPExtOp::create(e.b, e.loc, e.b.getF32Type(), x));
}

Value ConvertOne(Emitter& e, Value x, FloatType from, FloatType to, tt::RoundingMode rounding) {
  if (from == to) return x;
  bool nearest = rounding == tt::RoundingMode::kRtne;
  if (IsWide(from) && IsWide(to)) {
    if (to.getWidth() > from.getWidth()) return LLVM::FPExtOp::create(e.b, e.loc, to, x);
    if (nearest && (to.isF32() || to.isF16())) {
      if (!from.isBF16()) return LLVM::FPTruncOp::create(e.b, e.loc, to, x);
    } else if (nearest && to.isBF16()) {
      return LLVM::FPTruncOp::create(e.b, e.loc, to, ToF32(e, x, from));
    }
  }
  if (from.isF64() && to.isF32()) return RoundTowardsZero(e, x);
  Value wide = ToF32(e, x, from);
  if (to.isF32()) return wide;
  if (to.isF64()) return LLVM::FPExtOp::create(e.b, e.loc, to, wide);
  if (nearest && IsWide(to)) return LLVM::FPTruncOp::create(e.b, e.loc, to, wide);
  Value bits = EncodeFloat(e, FloatFormat::Of(to), wide, nearest);
  return IsWide(to) ? e.FromInt(bits, to) : bits;
}

LogicalResult LowerFloatCast(FunctionLowering& f, mlir::Operation* op, tt::RoundingMode rounding) {
  auto from = llvm::cast<FloatType>(tt::ElementOf(op->getOperand(0).getType()));
  auto to = llvm::cast<FloatType>(tt::ElementOf(op->getResult(0).getType()));
  Values native = f.target.ConvertFloat(f.e.b, f.e.loc, from, to, rounding, f.Get(op->getOperand(0)));
  if (!native.empty()) return f.Set(op->getResult(0), native), mlir::success();
  return LowerPerElement(f, op,
                         [&](ValueList x) -> FailureOr<Value> { return ConvertOne(f.e, x[0], from, to, rounding); });
}

LogicalResult LowerFpToFp(FunctionLowering& f, tt::FpToFpOp op) {
  return LowerFloatCast(f, op, op.getRounding().value_or(tt::RoundingMode::kRtne));
}

LogicalResult LowerNearest(FunctionLowering& f, mlir::Operation* op) {
  return LowerFloatCast(f, op, tt::RoundingMode::kRtne);
}

LogicalResult LowerTruncF(FunctionLowering& f, arith::TruncFOp op) {
  auto mode = op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
  if (mode != arith::RoundingMode::to_nearest_even && mode != arith::RoundingMode::toward_zero)
    return op.emitOpError("rounds in a mode that is not supported; use to_nearest_even or toward_zero");
  return LowerFloatCast(f, op,
                        mode == arith::RoundingMode::toward_zero ? tt::RoundingMode::kRtz : tt::RoundingMode::kRtne);
}

// `x` where it is in the range of f16, else a number that becomes infinite. LLVM takes a number of few significant bits
// for one that f16 holds, however large it is, and converts it to a wider float at once: 2^29 became no infinity (22).
// The bound has one bit more than f16.
Value BoundForF16(Emitter& e, Value x, bool is_signed) {
  constexpr int64_t kBound = 65520;
  const unsigned width = x.getType().getIntOrFloatBitWidth();
  if (width < (is_signed ? 32 : 16)) return x;
  const Value bound = e.Int(kBound, width);
  if (!is_signed) return LLVM::UMinOp::create(e.b, e.loc, x, bound);
  x = LLVM::SMinOp::create(e.b, e.loc, x, bound);
  return LLVM::SMaxOp::create(e.b, e.loc, x, e.Int(-kBound, width));
}

// Integers of so many bits may be beyond the range of f16.
constexpr int kF16Bits = 16;
// All of so many bits are numbers of f32.
constexpr int kF32Bits = 24, kLongBits = 64;

// Integers and floats. Formats below f32 go by f32, which holds every integer that they can tell apart. An i64 is
// rounded twice, as on the device's own path.
template <typename Llvm>
LogicalResult LowerIntToFloat(FunctionLowering& f, mlir::Operation* op) {
  auto to = llvm::cast<FloatType>(tt::ElementOf(op->getResult(0).getType()));
  constexpr bool kSigned = std::is_same_v<Llvm, LLVM::SIToFPOp>;
  // A difference that is negative is a large number without a sign.
  const int magnitude = kSigned ? MagnitudeBits(op->getOperand(0)) : kLongBits;
  const bool may_exceed = to.isF16() && magnitude >= kF16Bits;
  ValueList values = f.Get(op->getOperand(0));
  const int width = std::min<int>(values[0].getType().getIntOrFloatBitWidth(), magnitude);
  if (values[0].getType().isInteger(32) && (width > kF32Bits || may_exceed)) {
    Values native = f.target.ConvertWords(f.e.b, f.e.loc, to, kSigned, values);
    if (!native.empty()) return f.Set(op->getResult(0), native), mlir::success();
  }
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Emitter& e = f.e;
    const Value number = may_exceed ? BoundForF16(e, x[0], kSigned) : x[0];
    if (to.isF32() || to.isF64() || to.isF16()) return Value(Llvm::create(e.b, e.loc, to, number));
    FloatType through = width > kF32Bits ? FloatType(e.b.getF64Type()) : FloatType(e.b.getF32Type());
    Value wide = Llvm::create(e.b, e.loc, through, x[0]);
    return ConvertOne(e, wide, through, to, tt::RoundingMode::kRtne);
  });
}

// Whether the values lie in words as they are, and are no registers of their own.
bool AreInWords(ValueList values) {
  return llvm::all_of(values, [](Value value) { return value.getDefiningOp<LLVM::ExtractElementOp>() != nullptr; });
}

template <typename Llvm>
LogicalResult LowerNumbers(FunctionLowering& f, mlir::Operation* op) {
  auto to = llvm::cast<FloatType>(tt::ElementOf(op->getResult(0).getType()));
  ValueList values = f.Get(op->getOperand(0));
  llvm::SmallDenseSet<Value> distinct(values.begin(), values.end());
  // Equal registers are converted once, which is best done one by one.
  if (values[0].getType().isInteger(8) && distinct.size() == values.size()) {
    constexpr bool kSigned = std::is_same_v<Llvm, LLVM::SIToFPOp>;
    Values native = f.target.ConvertBytes(f.e.b, f.e.loc, to, kSigned, AreInWords(values), values);
    if (!native.empty()) return f.Set(op->getResult(0), native), mlir::success();
  }
  return LowerIntToFloat<Llvm>(f, op);
}

template <typename Llvm>
LogicalResult LowerFloatToInt(FunctionLowering& f, mlir::Operation* op) {
  auto from = llvm::cast<FloatType>(tt::ElementOf(op->getOperand(0).getType()));
  mlir::Type to = f.ConvertType(tt::ElementOf(op->getResult(0).getType()));
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    bool direct = from.isF32() || from.isF64();
    Value wide = direct ? x[0] : ToF32(f.e, x[0], from);
    return Value(Llvm::create(f.e.b, f.e.loc, to, wide));
  });
}

// The bits of a pointer do not change with the type that it points to.
LogicalResult LowerBitcast(FunctionLowering& f, mlir::Operation* op) {
  mlir::Type to = f.ConvertType(tt::ElementOf(op->getResult(0).getType()));
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> { return f.e.Bitcast(x[0], to); });
}

LogicalResult LowerIntToPtr(FunctionLowering& f, tt::IntToPtrOp op) {
  mlir::Type to = f.ConvertType(tt::ElementOf(op.getType()));
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> { return f.e.FromInt(x[0], to); });
}

LogicalResult LowerPtrToInt(FunctionLowering& f, tt::PtrToIntOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> { return f.e.ToInt(x[0]); });
}

}  // namespace

void AddConversions(LoweringTable& table) {
  table.Add<tt::FpToFpOp>(LowerFpToFp);
  table.AddAll<arith::ExtFOp>(LowerNearest);
  table.Add<arith::TruncFOp>(LowerTruncF);
  table.AddAll<arith::SIToFPOp>(LowerNumbers<LLVM::SIToFPOp>);
  table.AddAll<arith::UIToFPOp>(LowerNumbers<LLVM::UIToFPOp>);
  table.AddAll<arith::FPToSIOp>(LowerFloatToInt<LLVM::FPToSIOp>);
  table.AddAll<arith::FPToUIOp>(LowerFloatToInt<LLVM::FPToUIOp>);
  table.AddAll<arith::BitcastOp, tt::BitcastOp>(LowerBitcast);
  table.Add<tt::IntToPtrOp>(LowerIntToPtr);
  table.Add<tt::PtrToIntOp>(LowerPtrToInt);
}

}  // namespace tritond::compiler
