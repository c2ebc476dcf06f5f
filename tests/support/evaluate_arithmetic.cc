// SPDX-License-Identifier: Apache-2.0
// Integer and float arithmetic, comparisons and selects. What has no value (a division by zero, a shift by too much, an
// overflow that the operation promises not to have) is poison.
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using llvm::APFloat;
using llvm::APInt;
using mlir::Operation;
namespace arith = mlir::arith;
using Elements = llvm::ArrayRef<Element>;

mlir::Type OperandElement(Operation* op, int i = 0) { return tt::ElementOf(op->getOperand(i).getType()); }

using IntFn = std::optional<APInt> (*)(const APInt&, const APInt&);

Handler Integers(IntFn fn) {
  return Elementwise([fn](Operation* op, Elements x) {
    unsigned width = WidthOf(OperandElement(op));
    std::optional<APInt> result = fn(ToInt(x[0], width), ToInt(x[1], width));
    return result ? FromInt(*result) : Element::Poison();
  });
}

// An operation that may promise not to overflow: `wrap` gives the result, the others say whether it overflowed.
using OverflowFn = APInt (APInt::*)(const APInt&, bool&) const;
Handler Wrapping(OverflowFn as_signed, OverflowFn as_unsigned) {
  return Elementwise([=](Operation* op, Elements x) {
    unsigned width = WidthOf(OperandElement(op));
    APInt a = ToInt(x[0], width), b = ToInt(x[1], width);
    bool signed_overflow, unsigned_overflow;
    APInt result = (a.*as_signed)(b, signed_overflow);
    (void)(a.*as_unsigned)(b, unsigned_overflow);
    auto flags = llvm::cast<arith::ArithIntegerOverflowFlagsInterface>(op).getOverflowAttr().getValue();
    bool nsw = bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw);
    bool nuw = bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nuw);
    return (nsw && signed_overflow) || (nuw && unsigned_overflow) ? Element::Poison() : FromInt(result);
  });
}

bool Indivisible(const APInt& a, const APInt& b) { return b.isZero() || (a.isMinSignedValue() && b.isAllOnes()); }

void AddIntegers(HandlerTable& table) {
  table["arith.addi"] = Wrapping(&APInt::sadd_ov, &APInt::uadd_ov);
  table["arith.subi"] = Wrapping(&APInt::ssub_ov, &APInt::usub_ov);
  table["arith.muli"] = Wrapping(&APInt::smul_ov, &APInt::umul_ov);
  table["arith.shli"] = Elementwise([](Operation* op, Elements x) {
    unsigned width = WidthOf(OperandElement(op));
    if (x[1].bits >= width) return Element::Poison();
    APInt a = ToInt(x[0], width), result = a.shl(x[1].bits);
    auto flags = llvm::cast<arith::ShLIOp>(op).getOverflowFlags();
    bool nsw = bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw);
    bool nuw = bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nuw);
    if ((nsw && result.ashr(x[1].bits) != a) || (nuw && result.lshr(x[1].bits) != a)) return Element::Poison();
    return FromInt(result);
  });
  using Result = std::optional<APInt>;
  table["arith.shrsi"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (b.uge(a.getBitWidth())) return std::nullopt;
    return a.ashr(b);
  });
  table["arith.shrui"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (b.uge(a.getBitWidth())) return std::nullopt;
    return a.lshr(b);
  });
  table["arith.andi"] = Integers([](const APInt& a, const APInt& b) -> Result { return a & b; });
  table["arith.ori"] = Integers([](const APInt& a, const APInt& b) -> Result { return a | b; });
  table["arith.xori"] = Integers([](const APInt& a, const APInt& b) -> Result { return a ^ b; });
  table["arith.maxsi"] = Integers([](const APInt& a, const APInt& b) -> Result { return a.sgt(b) ? a : b; });
  table["arith.minsi"] = Integers([](const APInt& a, const APInt& b) -> Result { return a.slt(b) ? a : b; });
  table["arith.maxui"] = Integers([](const APInt& a, const APInt& b) -> Result { return a.ugt(b) ? a : b; });
  table["arith.minui"] = Integers([](const APInt& a, const APInt& b) -> Result { return a.ult(b) ? a : b; });
  table["tt.mulhiui"] = Integers([](const APInt& a, const APInt& b) -> Result {
    unsigned width = a.getBitWidth();
    return (a.zext(2 * width) * b.zext(2 * width)).lshr(width).trunc(width);
  });
}

template <typename Count>
Handler Bits(Count count) {
  return Elementwise([count](Operation* op, Elements x) {
    unsigned width = WidthOf(OperandElement(op));
    return FromInt(APInt(width, count(ToInt(x[0], width)), /*isSigned=*/false));
  });
}

void AddBitCounts(HandlerTable& table) {
  table["math.ctlz"] = Bits([](const APInt& a) { return a.countl_zero(); });
  table["math.cttz"] = Bits([](const APInt& a) { return a.countr_zero(); });
  table["math.ctpop"] = Bits([](const APInt& a) { return a.popcount(); });
}

void AddDivisions(HandlerTable& table) {
  using Result = std::optional<APInt>;
  table["arith.divsi"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (Indivisible(a, b)) return std::nullopt;
    return a.sdiv(b);
  });
  table["arith.remsi"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (Indivisible(a, b)) return std::nullopt;
    return a.srem(b);
  });
  table["arith.divui"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (b.isZero()) return std::nullopt;
    return a.udiv(b);
  });
  table["arith.remui"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (b.isZero()) return std::nullopt;
    return a.urem(b);
  });
  table["arith.ceildivui"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (b.isZero()) return std::nullopt;
    return a.udiv(b) + (a.urem(b).isZero() ? 0 : 1);
  });
  table["arith.ceildivsi"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (Indivisible(a, b)) return std::nullopt;
    bool up = !a.srem(b).isZero() && a.isNegative() == b.isNegative();
    return a.sdiv(b) + (up ? 1 : 0);
  });
  table["arith.floordivsi"] = Integers([](const APInt& a, const APInt& b) -> Result {
    if (Indivisible(a, b)) return std::nullopt;
    bool down = !a.srem(b).isZero() && a.isNegative() != b.isNegative();
    return a.sdiv(b) - (down ? 1 : 0);
  });
}

// (low, high) of the double-width product.
Handler MulExtended(bool is_signed) {
  return [is_signed](Evaluation&, Operation* op, Operands x) -> Data {
    unsigned width = WidthOf(OperandElement(op));
    mlir::Type type = op->getResult(0).getType();
    auto half = [&](bool high) {
      return MakeDatum(type, [&](int64_t i) {
        Element a = x[0]->elements[i], b = x[1]->elements[i];
        if (a.poison || b.poison) return Element::Poison();
        APInt p = ToInt(a, width), q = ToInt(b, width);
        APInt product = is_signed ? p.sext(2 * width) * q.sext(2 * width) : p.zext(2 * width) * q.zext(2 * width);
        return FromInt(product.lshr(high ? width : 0).trunc(width));
      });
    };
    return {half(false), half(true)};
  };
}

using FloatFn = APFloat (*)(APFloat, APFloat);
Handler Floats(FloatFn fn) {
  return Elementwise([fn](Operation* op, Elements x) {
    auto type = llvm::cast<mlir::FloatType>(OperandElement(op));
    return FromFloat(fn(ToFloat(x[0], type), ToFloat(x[1], type)));
  });
}

APFloat Divide(APFloat a, APFloat b) {
  a.divide(b, APFloat::rmNearestTiesToEven);
  return a;
}

void AddFloats(HandlerTable& table) {
  table["arith.addf"] = Floats([](APFloat a, APFloat b) { return a + b; });
  table["arith.subf"] = Floats([](APFloat a, APFloat b) { return a - b; });
  table["arith.mulf"] = Floats([](APFloat a, APFloat b) { return a * b; });
  table["arith.divf"] = table["tt.precise_divf"] = Floats(Divide);
  table["arith.remf"] = Floats([](APFloat a, APFloat b) {
    a.mod(b);
    return a;
  });
  table["arith.maximumf"] = Floats([](APFloat a, APFloat b) { return maximum(a, b); });
  table["arith.minimumf"] = Floats([](APFloat a, APFloat b) { return minimum(a, b); });
  table["arith.maxnumf"] = Floats([](APFloat a, APFloat b) { return maxnum(a, b); });
  table["arith.minnumf"] = Floats([](APFloat a, APFloat b) { return minnum(a, b); });
  table["arith.negf"] = Elementwise([](Operation* op, Elements x) {
    return FromFloat(-ToFloat(x[0], llvm::cast<mlir::FloatType>(OperandElement(op))));
  });
  table["tt.clampf"] = Elementwise([](Operation* op, Elements x) {
    auto type = llvm::cast<mlir::FloatType>(OperandElement(op));
    APFloat v = ToFloat(x[0], type);
    if (v.isNaN() && llvm::cast<tt::ClampFOp>(op).getPropagateNan() == tt::PropagateNan::kAll) return x[0];
    return FromFloat(minnum(maxnum(v, ToFloat(x[1], type)), ToFloat(x[2], type)));
  });
}

bool Holds(arith::CmpIPredicate predicate, const APInt& a, const APInt& b) {
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return a == b;
    case arith::CmpIPredicate::ne:
      return a != b;
    case arith::CmpIPredicate::slt:
      return a.slt(b);
    case arith::CmpIPredicate::sle:
      return a.sle(b);
    case arith::CmpIPredicate::sgt:
      return a.sgt(b);
    case arith::CmpIPredicate::sge:
      return a.sge(b);
    case arith::CmpIPredicate::ult:
      return a.ult(b);
    case arith::CmpIPredicate::ule:
      return a.ule(b);
    case arith::CmpIPredicate::ugt:
      return a.ugt(b);
    case arith::CmpIPredicate::uge:
      return a.uge(b);
  }
  llvm_unreachable("predicate");
}

// The numbers of the predicates are sets of outcomes: bit 0 equal, 1 greater, 2 less, 3 unordered.
bool Holds(arith::CmpFPredicate predicate, const APFloat& a, const APFloat& b) {
  using P = arith::CmpFPredicate;
  auto in = [&](std::initializer_list<P> set) { return llvm::is_contained(set, predicate); };
  switch (a.compare(b)) {
    case APFloat::cmpEqual:
      return in({P::OEQ, P::OGE, P::OLE, P::ORD, P::UEQ, P::UGE, P::ULE, P::AlwaysTrue});
    case APFloat::cmpGreaterThan:
      return in({P::OGT, P::OGE, P::ONE, P::ORD, P::UGT, P::UGE, P::UNE, P::AlwaysTrue});
    case APFloat::cmpLessThan:
      return in({P::OLT, P::OLE, P::ONE, P::ORD, P::ULT, P::ULE, P::UNE, P::AlwaysTrue});
    case APFloat::cmpUnordered:
      return in({P::UNO, P::UEQ, P::UGT, P::UGE, P::ULT, P::ULE, P::UNE, P::AlwaysTrue});
  }
  llvm_unreachable("outcome");
}

void AddComparisons(HandlerTable& table) {
  table["arith.cmpi"] = Elementwise([](Operation* op, Elements x) {
    unsigned width = WidthOf(OperandElement(op));
    return Element{Holds(llvm::cast<arith::CmpIOp>(op).getPredicate(), ToInt(x[0], width), ToInt(x[1], width))};
  });
  table["arith.cmpf"] = Elementwise([](Operation* op, Elements x) {
    auto type = llvm::cast<mlir::FloatType>(OperandElement(op));
    return Element{Holds(llvm::cast<arith::CmpFOp>(op).getPredicate(), ToFloat(x[0], type), ToFloat(x[1], type))};
  });
  // Only the chosen side counts: the other one may be poison.
  table["arith.select"] = [](Evaluation&, Operation* op, Operands x) -> Data {
    return {MakeDatum(op->getResult(0).getType(), [&](int64_t i) {
      Element condition = x[0]->elements[x[0]->elements.size() == 1 ? 0 : i];
      if (condition.poison) return Element::Poison();
      return x[condition.bits ? 1 : 2]->elements[i];
    })};
  };
}

}  // namespace

void AddArithmetic(HandlerTable& table) {
  AddIntegers(table);
  AddBitCounts(table);
  AddDivisions(table);
  table["arith.mulsi_extended"] = MulExtended(true);
  table["arith.mului_extended"] = MulExtended(false);
  AddFloats(table);
  AddComparisons(table);
}

}  // namespace tritond::tests
