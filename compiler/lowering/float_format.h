// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_FLOAT_FORMAT_H_
#define COMPILER_LOWERING_FLOAT_FORMAT_H_

#include "compiler/lowering/emitter.h"

namespace tritond::compiler {

// A float format of at most 16 bits, by its parameters (OCP 8-bit Floating Point Specification, and the FNUZ variants).
struct FloatFormat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  bool has_infinity = false;          // exponent all ones: infinity and NaN, as IEEE 754
  bool nan_is_negative_zero = false;  // FNUZ: one NaN, at 1000…0, and no negative zero
  // Otherwise (FN) the one NaN of each sign is all ones.

  int Width() const { return 1 + exponent_bits + mantissa_bits; }
  // The largest finite magnitude and a NaN, as bit patterns.
  int MaxFinite() const;
  int Nan() const;

  // CHECK-fails for a type wider than 16 bits.
  static FloatFormat Of(mlir::FloatType type);
};

// The f32 of `bits`, an integer of the format's width. Exact.
mlir::Value DecodeFloat(Emitter& e, const FloatFormat& format, mlir::Value bits);

// The bits of the f32 `x` in the format, rounded to nearest even or towards zero. Magnitudes beyond the largest finite
// one, infinities too, become that (saturation), as the device's conversions to 8-bit formats do. In a 16-bit format
// they become infinity when rounding to nearest. NaN stays NaN.
mlir::Value EncodeFloat(Emitter& e, const FloatFormat& format, mlir::Value x, bool to_nearest);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_FLOAT_FORMAT_H_
