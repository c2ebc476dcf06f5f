// SPDX-License-Identifier: Apache-2.0
// ttg.fp4_to_fp: bytes of two 4-bit floats (e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives) become wider floats.
// Every such number is one of the wider format, so bits are moved and the exponent's bias is changed. 0.5, a subnormal
// number, is the one that needs another mantissa. Targets may have better instructions (TargetOps::UnpackFp4).
#include <map>

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// `nibble`, below 16 and as wide as `type`, as a float of `type`.
Value WidenFp4(Emitter& e, Value nibble, mlir::FloatType type) {
  int bits = type.getWidth(), mantissa = type.getFPMantissaWidth() - 1;
  int64_t bias = (int64_t{1} << (bits - 2 - mantissa)) - 1, half = (bias - 1) << mantissa;
  Value magnitude = e.And(nibble, e.Int(7, bits));
  Value sign = e.Shl(e.And(nibble, e.Int(8, bits)), bits - 4);
  Value normal = e.Add(e.Shl(magnitude, mantissa - 1), e.Int(half, bits));
  Value small = e.Select(e.Equal(magnitude, e.Int(0, bits)), e.Int(0, bits), e.Int(half, bits));
  Value is_small = e.Compare(LLVM::ICmpPredicate::ult, magnitude, e.Int(2, bits));
  return e.FromInt(e.Or(e.Select(is_small, small, normal), sign), type);
}

// Both floats of each byte, one after the other.
Values UnpackBytes(FunctionLowering& f, ValueList bytes, mlir::FloatType type) {
  Emitter& e = f.e;
  Values floats;
  for (Value byte : bytes) {
    Value wide = e.ZExt(byte, type.getWidth());
    floats.push_back(WidenFp4(e, wide, type));
    floats.push_back(WidenFp4(e, e.LShr(wide, 4), type));
  }
  return floats;
}

// The same by the target's instructions, which take four bytes at a time; empty where there are none.
Values UnpackWords(FunctionLowering& f, ValueList bytes, mlir::FloatType type) {
  Emitter& e = f.e;
  mlir::Type vector = mlir::VectorType::get({4}, e.b.getI8Type());
  Values words;
  for (size_t first = 0; first < bytes.size(); first += 4) {
    Value word = e.Zero(vector);
    for (size_t i = first; i < std::min(first + 4, bytes.size()); ++i)
      word = LLVM::InsertElementOp::create(e.b, e.loc, word, bytes[i], e.Int(i - first));
    words.push_back(e.Bitcast(word, e.b.getI32Type()));
  }
  return f.target.UnpackFp4(e.b, e.loc, type, words);
}

LogicalResult LowerFp4ToFp(FunctionLowering& f, ttg::Fp4ToFpOp op) {
  auto src_type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  auto dst_type = llvm::cast<RankedTensorType>(op.getType());
  const LinearLayout src = f.LayoutOf(src_type), dst = f.LayoutOf(dst_type);
  auto type = llvm::cast<mlir::FloatType>(dst_type.getElementType());
  unsigned axis = op.getAxis();
  // Both layouts differ in registers alone, which is verified. Each byte counts once.
  std::map<Coordinates, int> byte_at;
  Values bytes;
  for (int r = 0; r < src.InSize("register"); ++r)
    if (byte_at.try_emplace(src.ApplyNamed({{"register", r}}), bytes.size()).second)
      bytes.push_back(f.Get(op.getSrc())[r]);
  Values floats = UnpackWords(f, bytes, type);
  if (floats.empty()) floats = UnpackBytes(f, bytes, type);
  Values results;
  for (int r = 0; r < dst.InSize("register"); ++r) {
    Coordinates at = dst.ApplyNamed({{"register", r}});
    int high = at[axis] % 2;
    at[axis] /= 2;
    auto byte = byte_at.find(at);
    if (byte == byte_at.end()) return op.emitOpError("has pairs that lie in different threads");
    results.push_back(floats[2 * byte->second + high]);
  }
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddFp4(LoweringTable& table) { table.Add<ttg::Fp4ToFpOp>(LowerFp4ToFp); }

}  // namespace tritond::compiler
