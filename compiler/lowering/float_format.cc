// SPDX-License-Identifier: Apache-2.0
// Narrow floats in integer arithmetic.
//
// Encoding starts from the f32 exponent field E and the significand S (24 bits with the hidden one). The target's
// exponent field is t = max(E - 127 + bias, 1). S loses 23 - mantissa_bits bits, and one more for each step that t was
// raised (the result is then subnormal). The quotient q still has the hidden bit when the result is normal. So
// ((t - 1) << mantissa_bits) + q is the result in both cases. A carry out of rounding runs into the exponent as it
// should.
#include "compiler/lowering/float_format.h"

namespace tritond::compiler {

using mlir::Value;
namespace LLVM = mlir::LLVM;

FloatFormat FloatFormat::Of(mlir::FloatType type) {
  if (type.isF16()) return {5, 10, 15, true, false};
  if (type.isBF16()) return {8, 7, 127, true, false};
  if (llvm::isa<mlir::Float8E5M2Type>(type)) return {5, 2, 15, true, false};
  if (llvm::isa<mlir::Float8E4M3FNType>(type)) return {4, 3, 7, false, false};
  if (llvm::isa<mlir::Float8E4M3FNUZType>(type)) return {4, 3, 8, false, true};
  if (llvm::isa<mlir::Float8E5M2FNUZType>(type)) return {5, 2, 16, false, true};
  if (llvm::isa<mlir::Float8E4M3B11FNUZType>(type)) return {4, 3, 11, false, true};
  if (llvm::isa<mlir::Float8E4M3Type>(type)) return {4, 3, 7, true, false};
  llvm::report_fatal_error("float format without parameters");
}

int FloatFormat::MaxFinite() const {
  int all = (1 << (exponent_bits + mantissa_bits)) - 1;
  if (nan_is_negative_zero) return all;
  return has_infinity ? all - (1 << mantissa_bits) : all - 1;
}

int FloatFormat::Nan() const {
  int all = (1 << (exponent_bits + mantissa_bits)) - 1;
  return nan_is_negative_zero ? all + 1 : all;
}

Value DecodeFloat(Emitter& e, const FloatFormat& format, Value bits) {
  mlir::Type f32 = e.b.getF32Type();
  int magnitude_bits = format.exponent_bits + format.mantissa_bits;
  Value word = e.ZExt(bits, 32);
  Value magnitude = e.And(word, e.Int((1 << magnitude_bits) - 1));
  Value sign = e.Shl(e.And(word, e.Int(1 << magnitude_bits)), 31 - magnitude_bits);
  // The fields moved into place are the value too small by 2^(127 - bias); the product is exact, subnormals included.
  Value small = e.Bitcast(e.Shl(magnitude, 23 - format.mantissa_bits), f32);
  llvm::APFloat scale(llvm::APFloat::IEEEsingle(), 1);
  scale = llvm::scalbn(scale, 127 - format.bias, llvm::APFloat::rmNearestTiesToEven);
  Value value = small;
  if (format.bias != 127)
    value = LLVM::FMulOp::create(e.b, e.loc, small, e.Constant(f32, e.b.getFloatAttr(f32, scale)));
  Value result = e.Bitcast(value, e.b.getI32Type());
  if (format.has_infinity) {
    Value special = e.Compare(LLVM::ICmpPredicate::ugt, magnitude, e.Int(format.MaxFinite()));
    Value fraction = e.And(e.Shl(magnitude, 23 - format.mantissa_bits), e.Int(0x7fffff));
    result = e.Select(special, e.Or(fraction, e.Int(0x7f800000)), result);
  } else {
    Value compared = format.nan_is_negative_zero ? word : magnitude;
    result = e.Select(e.Equal(compared, e.Int(format.Nan())), e.Int(0x7fc00000), result);
  }
  return e.Bitcast(e.Or(result, sign), f32);
}

Value EncodeFloat(Emitter& e, const FloatFormat& format, Value x, bool to_nearest) {
  auto min = [&](Value a, Value b) { return LLVM::UMinOp::create(e.b, e.loc, a, b); };
  auto shift_right = [&](Value v, Value by) { return LLVM::LShrOp::create(e.b, e.loc, v, by); };
  auto sub = [&](Value a, Value b) { return LLVM::SubOp::create(e.b, e.loc, a, b); };
  Value bits = e.Bitcast(x, e.b.getI32Type());
  Value magnitude = e.And(bits, e.Int(0x7fffffff));
  Value exponent = e.LShr(magnitude, 23), fraction = e.And(magnitude, e.Int(0x7fffff));
  Value significand = e.Select(e.Equal(exponent, e.Int(0)), fraction, e.Or(fraction, e.Int(1 << 23)));
  // f32's own subnormals have the exponent of the smallest normal numbers.
  Value scale = LLVM::UMaxOp::create(e.b, e.loc, exponent, e.Int(1));
  Value wanted = sub(scale, e.Int(127 - format.bias));
  Value target = LLVM::SMaxOp::create(e.b, e.loc, wanted, e.Int(1));
  Value lost = LLVM::AddOp::create(e.b, e.loc, e.Int(23 - format.mantissa_bits), sub(target, wanted));
  lost = min(lost, e.Int(25));  // 24 bits at most: beyond that nothing is left but the sticky bit
  Value quotient = shift_right(significand, lost);
  if (to_nearest) {
    Value one = LLVM::ShlOp::create(e.b, e.loc, e.Int(1), lost);
    Value rest = e.And(significand, sub(one, e.Int(1)));
    Value half = e.LShr(one, 1);
    Value above = e.Compare(LLVM::ICmpPredicate::ugt, rest, half);
    Value tie_to_even = e.And(e.Equal(rest, half), e.Trunc(quotient, 1));
    quotient = LLVM::AddOp::create(e.b, e.loc, quotient, e.ZExt(e.Or(above, tie_to_even), 32));
  }
  Value result = LLVM::AddOp::create(e.b, e.loc, e.Shl(sub(target, e.Int(1)), format.mantissa_bits), quotient);
  bool saturates = format.Width() == 8 || !to_nearest;
  Value is_infinite = e.Equal(magnitude, e.Int(0x7f800000));
  result = min(result, e.Int(format.MaxFinite() + (saturates ? 0 : 1)));
  if (!saturates || format.Width() == 16) result = e.Select(is_infinite, e.Int(format.MaxFinite() + 1), result);
  Value is_nan = e.Compare(LLVM::ICmpPredicate::ugt, magnitude, e.Int(0x7f800000));
  int sign_bit = format.Width() - 1;
  Value sign = e.And(e.LShr(bits, 31 - sign_bit), e.Int(1 << sign_bit));
  if (format.nan_is_negative_zero) sign = e.Select(e.Equal(result, e.Int(0)), e.Int(0), sign);
  result = e.Or(result, sign);
  result = e.Select(is_nan, e.Int(format.Nan()), result);
  return e.Trunc(result, format.Width());
}

}  // namespace tritond::compiler
