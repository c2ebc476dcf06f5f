// SPDX-License-Identifier: Apache-2.0
// ttg.fp4_to_fp: bytes of two 4-bit floats (e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives) become wider floats.
// Every such number is one of the wider format, so bits are moved and the exponent's bias is changed; 0.5, a subnormal
// number, is the one that needs another mantissa.
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

LogicalResult LowerFp4ToFp(FunctionLowering& f, ttg::Fp4ToFpOp op) {
  Emitter& e = f.e;
  auto src_type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  auto dst_type = llvm::cast<RankedTensorType>(op.getType());
  const LinearLayout src = f.LayoutOf(src_type), dst = f.LayoutOf(dst_type);
  auto type = llvm::cast<mlir::FloatType>(dst_type.getElementType());
  unsigned axis = op.getAxis();
  // Both layouts differ in registers alone, which is verified.
  std::map<Coordinates, int> byte_at;
  for (int r = 0; r < src.InSize("register"); ++r) byte_at.try_emplace(src.ApplyNamed({{"register", r}}), r);
  ValueList bytes = f.Get(op.getSrc());
  std::map<std::pair<int, int>, Value> done;
  Values results;
  for (int r = 0; r < dst.InSize("register"); ++r) {
    Coordinates at = dst.ApplyNamed({{"register", r}});
    int high = at[axis] % 2;
    at[axis] /= 2;
    auto byte = byte_at.find(at);
    if (byte == byte_at.end()) return op.emitOpError("has pairs that lie in different threads");
    Value& value = done[{byte->second, high}];
    if (!value) {
      Value wide = e.ZExt(bytes[byte->second], type.getWidth());
      value = WidenFp4(e, high ? e.LShr(wide, 4) : wide, type);
    }
    results.push_back(value);
  }
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddFp4(LoweringTable& table) { table.Add<ttg::Fp4ToFpOp>(LowerFp4ToFp); }

}  // namespace tritond::compiler
