// SPDX-License-Identifier: Apache-2.0
// Math functions. f16 and bf16 are computed in f32; what a function costs is the target's knowledge.
#include "mlir/Dialect/Math/IR/Math.h"

#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/float_format.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;

// The target's function of the operation's name, on f32 or f64.
LogicalResult LowerByTarget(FunctionLowering& f, mlir::Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    mlir::Type type = x[0].getType();
    Values wide;
    for (Value operand : x) wide.push_back(ExtendToF32(f.e, operand));
    FailureOr<Value> result = f.target.Math(f.e.b, f.e.loc, name, wide);
    if (failed(result)) return op->emitOpError() << "is not available for " << type << " on this target";
    return TruncFromF32(f.e, *result, type);
  });
}

LogicalResult LowerDivF(FunctionLowering& f, mlir::arith::DivFOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    mlir::Type type = x[0].getType();
    if (type.isF64()) return Value(LLVM::FDivOp::create(f.e.b, f.e.loc, x[0], x[1]));
    Value operands[] = {ExtendToF32(f.e, x[0]), ExtendToF32(f.e, x[1])};
    FailureOr<Value> result = f.target.Math(f.e.b, f.e.loc, "arith.divf", operands);
    if (failed(result)) return op.emitOpError("is not available on this target");
    return TruncFromF32(f.e, *result, type);
  });
}

// LLVM's own operation on f32 or f64; f16 as it is where `half` says that the device has it.
template <typename Llvm>
LogicalResult LowerUnary(FunctionLowering& f, mlir::Operation* op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    mlir::Type type = x[0].getType();
    return TruncFromF32(f.e, Llvm::create(f.e.b, f.e.loc, ExtendToF32(f.e, x[0])), type);
  });
}

// Of one rounding for every type: f16 and bf16 are not extended.
LogicalResult LowerFma(FunctionLowering& f, math::FmaOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    return LLVM::FMAOp::create(f.e.b, f.e.loc, x[0], x[1], x[2]).getResult();
  });
}

// |x| of f32 and f64 is a modifier of other instructions on many devices. For narrower formats it clears the sign bit.
// That is right for every one of them, and for NaN, except where NaN is the sign bit alone.
LogicalResult LowerAbsF(FunctionLowering& f, math::AbsFOp op) {
  Emitter& e = f.e;
  auto number = llvm::cast<mlir::FloatType>(tt::ElementOf(op.getType()));
  if (number.isF32() || number.isF64()) return LowerUnary<LLVM::FAbsOp>(f, op);
  const unsigned width = number.getWidth();
  const bool keeps_nan = width == 8 && FloatFormat::Of(number).nan_is_negative_zero;
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Value bits = e.ToInt(x[0]), positive = e.And(bits, e.Int((uint64_t{1} << (width - 1)) - 1, width));
    if (keeps_nan) {
      Value nan = e.Int(int64_t{1} << (width - 1), width);
      positive = e.Select(e.Compare(LLVM::ICmpPredicate::eq, bits, nan), nan, positive);
    }
    return e.FromInt(positive, x[0].getType());
  });
}

LogicalResult LowerAbsI(FunctionLowering& f, math::AbsIOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Value negative = f.e.Compare(LLVM::ICmpPredicate::slt, x[0], f.e.Int(0, x[0].getType().getIntOrFloatBitWidth()));
    return f.e.Select(negative, f.e.Sub(f.e.Int(0, x[0].getType().getIntOrFloatBitWidth()), x[0]), x[0]);
  });
}

// Counts of bits. Of zero, leading and trailing zeros are all of its bits.
template <typename Llvm>
LogicalResult LowerZeroCount(FunctionLowering& f, mlir::Operation* op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    return Value(Llvm::create(f.e.b, f.e.loc, x[0].getType(), x[0], /*is_zero_poison=*/false));
  });
}

LogicalResult LowerPopulation(FunctionLowering& f, math::CtPopOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    return Value(LLVM::CtPopOp::create(f.e.b, f.e.loc, x[0].getType(), x[0]));
  });
}

// min(max(x, lo), hi): the comparisons drop a NaN bound; with `all`, a NaN in x stays.
LogicalResult LowerClamp(FunctionLowering& f, tt::ClampFOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Emitter& e = f.e;
    mlir::Type type = x[0].getType();
    Value v = ExtendToF32(e, x[0]), low = ExtendToF32(e, x[1]), high = ExtendToF32(e, x[2]);
    Value result = LLVM::MinNumOp::create(e.b, e.loc, LLVM::MaxNumOp::create(e.b, e.loc, v, low), high);
    if (op.getPropagateNan() == tt::PropagateNan::kAll)
      result = e.Select(LLVM::FCmpOp::create(e.b, e.loc, LLVM::FCmpPredicate::uno, v, v), v, result);
    return TruncFromF32(e, result, type);
  });
}

LogicalResult LowerExtern(FunctionLowering& f, tt::ExternElementwiseOp op) {
  mlir::Type type = f.ConvertType(tt::ElementOf(op.getType()));
  if (op.getSrcs().empty()) return op.emitOpError("has no operand");
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    return f.target.CallExtern(f.e.b, f.e.loc, op.getSymbol(), type, mlir::ValueRange(x));
  });
}

}  // namespace

void AddMath(LoweringTable& table) {
  table.AddAll<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp,
               math::SinOp, math::CosOp, math::TanOp, math::TanhOp, math::AtanOp, math::Atan2Op, math::AsinOp,
               math::AcosOp, math::SinhOp, math::CoshOp, math::AsinhOp, math::AcoshOp, math::AtanhOp, math::ErfOp,
               math::ErfcOp, math::SqrtOp, math::RsqrtOp, math::CbrtOp, math::PowFOp, math::CopySignOp, math::RoundOp,
               math::RoundEvenOp, mlir::arith::RemFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp>(LowerByTarget);
  table.AddAll<math::FloorOp>(LowerUnary<LLVM::FFloorOp>);
  table.AddAll<math::CeilOp>(LowerUnary<LLVM::FCeilOp>);
  table.AddAll<math::TruncOp>(LowerUnary<LLVM::FTruncOp>);
  table.Add<mlir::arith::DivFOp>(LowerDivF);
  table.Add<math::FmaOp>(LowerFma);
  table.Add<math::AbsFOp>(LowerAbsF);
  table.Add<math::AbsIOp>(LowerAbsI);
  table.AddAll<math::CountLeadingZerosOp>(LowerZeroCount<LLVM::CountLeadingZerosOp>);
  table.AddAll<math::CountTrailingZerosOp>(LowerZeroCount<LLVM::CountTrailingZerosOp>);
  table.Add<math::CtPopOp>(LowerPopulation);
  table.Add<tt::ClampFOp>(LowerClamp);
  table.Add<tt::ExternElementwiseOp>(LowerExtern);
}

}  // namespace tritond::compiler
