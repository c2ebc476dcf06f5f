// SPDX-License-Identifier: Apache-2.0
// Float conversions: PTX "cvt". Those with 8-bit floats work on pairs and need compute capability 8.9; conversions
// between the wider formats are exact extensions, or one rounding.
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
using nvidia::PtxBuilder;

namespace {

using Values = llvm::SmallVector<mlir::Value>;

// "e4m3x2", "e5m2x2", or empty for formats that PTX has no conversion of.
llvm::StringRef PairName(mlir::FloatType type) {
  if (mlir::isa<mlir::Float8E4M3FNType>(type)) return "e4m3x2";
  if (mlir::isa<mlir::Float8E5M2Type>(type)) return "e5m2x2";
  return "";
}

// Applies `convert` (low, high → both results) to neighbours; an odd last value is converted together with itself.
template <class Convert>
Values ByPairs(mlir::ValueRange values, Convert convert) {
  Values results;
  for (size_t i = 0; i < values.size(); i += 2) {
    const bool has_second = i + 1 < values.size();
    auto [low, high] = convert(values[i], values[has_second ? i + 1 : i]);
    results.push_back(low);
    if (has_second) results.push_back(high);
  }
  return results;
}

mlir::Value MakePair(mlir::OpBuilder& b, mlir::Location loc, mlir::Value low, mlir::Value high) {
  mlir::Value pair = LLVM::UndefOp::create(b, loc, LLVM::getVectorType(low.getType(), 2));
  pair = LLVM::InsertElementOp::create(b, loc, pair, low, EmitI32(b, loc, 0));
  return LLVM::InsertElementOp::create(b, loc, pair, high, EmitI32(b, loc, 1));
}

std::pair<mlir::Value, mlir::Value> SplitPair(mlir::OpBuilder& b, mlir::Location loc, mlir::Value pair) {
  mlir::Value low = LLVM::ExtractElementOp::create(b, loc, pair, EmitI32(b, loc, 0));
  return {low, LLVM::ExtractElementOp::create(b, loc, pair, EmitI32(b, loc, 1))};
}

// bf16 is the upper half of f32; the shift is one integer instruction and keeps every bit.
mlir::Value Bf16ToF32(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value) {
  mlir::Value bits = LLVM::BitcastOp::create(b, loc, b.getI16Type(), value);
  bits = LLVM::ZExtOp::create(b, loc, b.getI32Type(), bits);
  bits = LLVM::ShlOp::create(b, loc, bits, EmitI32(b, loc, 16));
  return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
}

// Two f32 to a vector of two f16 or bf16; the intrinsics take the upper half first.
Values NarrowF32(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, tt::RoundingMode rounding,
                 mlir::ValueRange values) {
  std::string name = to.isF16() ? "llvm.nvvm.ff2f16x2" : "llvm.nvvm.ff2bf16x2";
  name += rounding == tt::RoundingMode::kRtz ? ".rz" : ".rn";
  mlir::Type pair = LLVM::getVectorType(to, 2);
  return ByPairs(values, [&](mlir::Value low, mlir::Value high) {
    return SplitPair(b, loc, EmitIntrinsic(b, loc, name, pair, {high, low}));
  });
}

Values Fp8ToF16(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from, mlir::ValueRange values) {
  return ByPairs(values, [&](mlir::Value low, mlir::Value high) {
    PtxBuilder ptx(b, loc);
    std::string text = "cvt.rn.f16x2." + PairName(from).str() + " " + ptx.AddOutput(b.getI32Type()) + ", ";
    text += ptx.AddInput(LLVM::BitcastOp::create(b, loc, b.getI16Type(), MakePair(b, loc, low, high))) + ";";
    mlir::Value word = ptx.Emit(text, /*touches_memory=*/false)[0];
    return SplitPair(b, loc, LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(b.getF16Type(), 2), word));
  });
}

Values F16ToFp8(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, mlir::ValueRange values) {
  return ByPairs(values, [&](mlir::Value low, mlir::Value high) {
    PtxBuilder ptx(b, loc);
    std::string text = "cvt.rn.satfinite." + PairName(to).str() + ".f16x2 " + ptx.AddOutput(b.getI16Type()) + ", ";
    text += ptx.AddInput(LLVM::BitcastOp::create(b, loc, b.getI32Type(), MakePair(b, loc, low, high))) + ";";
    mlir::Value half = ptx.Emit(text, /*touches_memory=*/false)[0];
    return SplitPair(b, loc, LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(b.getI8Type(), 2), half));
  });
}

Values F32ToFp8(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, mlir::ValueRange values) {
  return ByPairs(values, [&](mlir::Value low, mlir::Value high) {
    PtxBuilder ptx(b, loc);
    std::string text = "cvt.rn.satfinite." + PairName(to).str() + ".f32 " + ptx.AddOutput(b.getI16Type()) + ", ";
    text += ptx.AddInput(high) + ", ";
    text += ptx.AddInput(low) + ";";
    mlir::Value half = ptx.Emit(text, /*touches_memory=*/false)[0];
    return SplitPair(b, loc, LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(b.getI8Type(), 2), half));
  });
}

// Between f16, bf16, f32 and f64; empty when no single rounding does it.
Values ConvertWide(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from, mlir::FloatType to,
                   tt::RoundingMode rounding, mlir::ValueRange values) {
  Values results;
  if (from.isF32() && (to.isF16() || to.isBF16())) return NarrowF32(b, loc, to, rounding, values);
  if (from.isBF16() && (to.isF32() || to.isF64())) {
    for (mlir::Value value : values) {
      mlir::Value wide = Bf16ToF32(b, loc, value);
      results.push_back(to.isF64() ? LLVM::FPExtOp::create(b, loc, to, wide) : wide);
    }
    return results;
  }
  if ((from.isF16() && (to.isF32() || to.isF64())) || (from.isF32() && to.isF64())) {
    for (mlir::Value value : values) results.push_back(LLVM::FPExtOp::create(b, loc, to, value));
    return results;
  }
  if (from.isF64() && (to.isF32() || to.isF16()) && rounding == tt::RoundingMode::kRtne) {
    for (mlir::Value value : values) results.push_back(LLVM::FPTruncOp::create(b, loc, to, value));
  }
  return results;
}

}  // namespace

Values NvidiaOps::ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from, mlir::FloatType to,
                               tt::RoundingMode rounding, mlir::ValueRange values) const {
  const bool from_fp8 = !PairName(from).empty();
  const bool to_fp8 = !PairName(to).empty();
  if (!from_fp8 && !to_fp8) return ConvertWide(b, loc, from, to, rounding, values);
  if (compute_capability_ < 89 || (from_fp8 && to_fp8)) return {};
  mlir::FloatType f16 = b.getF16Type(), f32 = b.getF32Type();
  if (from_fp8) {
    // Every 8-bit float is an f16, and every value of it a bf16.
    Values halves = Fp8ToF16(b, loc, from, values);
    if (to.isF16()) return halves;
    if (!to.isBF16()) return ConvertWide(b, loc, f16, to, rounding, halves);
    return ConvertWide(b, loc, f32, to, tt::RoundingMode::kRtne,
                       ConvertWide(b, loc, f16, f32, tt::RoundingMode::kRtne, halves));
  }
  if (rounding != tt::RoundingMode::kRtne) return {};
  if (from.isF16()) return F16ToFp8(b, loc, to, values);
  if (from.isF32()) return F32ToFp8(b, loc, to, values);
  if (from.isBF16()) return F32ToFp8(b, loc, to, ConvertWide(b, loc, from, f32, rounding, values));
  return {};
}

Values NvidiaOps::ConvertWords(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, bool is_signed,
                               mlir::ValueRange values) const {
  // Others round such a number to bf16 by way of f64.
  if (!to.isF16() && (!to.isBF16() || compute_capability_ < 90)) return {};
  Values results;
  for (mlir::Value value : values) {
    PtxBuilder ptx(b, loc);
    std::string text = std::string("cvt.rn.") + (to.isF16() ? "f16" : "bf16") + (is_signed ? ".s32 " : ".u32 ");
    text += ptx.AddOutput(b.getI16Type()) + ", ";
    text += ptx.AddInput(value) + ";";
    results.push_back(LLVM::BitcastOp::create(b, loc, to, ptx.Emit(text, /*touches_memory=*/false)[0]));
  }
  return results;
}

}  // namespace tritond::compiler
