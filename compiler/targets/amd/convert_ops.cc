// SPDX-License-Identifier: Apache-2.0
// Conversions of 8-bit floats, in the formats that the GPU has instructions for; four of them fill a word. The other
// conversions are LLVM's own operations or integer arithmetic of lowering's.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/amd/matrix_instructions.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

constexpr size_t kPerWord = 4;

Value EmitBool(mlir::OpBuilder& b, mlir::Location loc, bool value) {
  return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(value));
}

// v_cvt_pk_f32_fp8 and v_cvt_pk_f32_bf8: the lower or the upper two of a word.
Values Widen(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from, mlir::ValueRange values) {
  const std::string name = std::string("llvm.amdgcn.cvt.pk.f32.") + amd::NarrowName(from);
  mlir::Type pair = LLVM::getVectorType(b.getF32Type(), 2);
  Values results;
  for (size_t first = 0; first < values.size(); first += kPerWord) {
    const size_t count = std::min(kPerWord, values.size() - first);
    Value bytes = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(b.getI8Type(), kPerWord));
    for (size_t i = 0; i < kPerWord; ++i)
      bytes = LLVM::InsertElementOp::create(b, loc, bytes, values[first + std::min(i, count - 1)], EmitI32(b, loc, i));
    Value word = LLVM::BitcastOp::create(b, loc, b.getI32Type(), bytes);
    for (size_t i = 0; i < count; ++i) {
      const bool upper = i >= 2;
      Value wide = EmitIntrinsic(b, loc, name, pair, {word, EmitBool(b, loc, upper)});
      results.push_back(LLVM::ExtractElementOp::create(b, loc, wide, EmitI32(b, loc, i % 2)));
    }
  }
  return results;
}

// Within the finite range; NaN stays.
Value Saturate(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, Value x) {
  const double most = llvm::APFloat::getLargest(to.getFloatSemantics()).convertToDouble();
  auto bound = [&](double value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getF32Type(), b.getF32FloatAttr(static_cast<float>(value)));
  };
  Value inside = EmitIntrinsic(b, loc, "llvm.amdgcn.fmed3", b.getF32Type(), {x, bound(-most), bound(most)});
  Value is_nan = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, x, x);
  return LLVM::SelectOp::create(b, loc, is_nan, x, inside);
}

// v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32, which write one half of a word.
Values Narrow(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to, mlir::ValueRange values) {
  const std::string name = std::string("llvm.amdgcn.cvt.pk.") + amd::NarrowName(to) + ".f32";
  Values results;
  for (size_t first = 0; first < values.size(); first += kPerWord) {
    const size_t count = std::min(kPerWord, values.size() - first);
    auto at = [&](size_t i) { return Saturate(b, loc, to, values[first + std::min(i, count - 1)]); };
    Value word = EmitI32(b, loc, 0);
    for (size_t i = 0; i < count; i += 2)
      word = EmitIntrinsic(b, loc, name, b.getI32Type(), {at(i), at(i + 1), word, EmitBool(b, loc, i >= 2)});
    Value bytes = LLVM::BitcastOp::create(b, loc, LLVM::getVectorType(b.getI8Type(), kPerWord), word);
    for (size_t i = 0; i < count; ++i)
      results.push_back(LLVM::ExtractElementOp::create(b, loc, bytes, EmitI32(b, loc, i)));
  }
  return results;
}

}  // namespace

Values AmdOps::ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from, mlir::FloatType to,
                            tt::RoundingMode rounding, mlir::ValueRange values) const {
  const bool from_narrow = amd::IsNarrowFloat(arch_, from), to_narrow = amd::IsNarrowFloat(arch_, to);
  if (from_narrow == to_narrow) return {};
  if (from_narrow) {
    if (to.getWidth() < 16) return {};
    // Exact: each of these values is one of every wider format.
    Values wide = Widen(b, loc, from, values);
    for (Value& value : wide) {
      if (to.getWidth() < 32) value = LLVM::FPTruncOp::create(b, loc, to, value);
      if (to.getWidth() > 32) value = LLVM::FPExtOp::create(b, loc, to, value);
    }
    return wide;
  }
  // From f64 it would be rounded twice.
  if (rounding != tt::RoundingMode::kRtne || from.getWidth() > 32 || from.getWidth() < 16) return {};
  Values wide;
  for (Value value : values)
    wide.push_back(from.isF32() ? value : LLVM::FPExtOp::create(b, loc, b.getF32Type(), value).getResult());
  return Narrow(b, loc, to, wide);
}

}  // namespace tritond::compiler
