// SPDX-License-Identifier: Apache-2.0
// Facts through integer and pointer arithmetic, comparisons, selections and casts.
//
// All facts are powers of two, so the greatest common divisor of two of them is the lesser. Along one dimension a rule
// picks the size g of the groups that its result is contiguous in. It then asks how the operands' groups of g start
// (StartDivisibility). Offsets 4, 5, … 19 in one group of 16 start at multiples of 4, and in groups of 2 at multiples
// of 2. Comparison, division, remainder and shift by a constant count in groups of g as well. Let x run from a multiple
// of g, and let y be a multiple of g. Then x < y, x / y and the offset of x mod y do not change, or run on, inside a
// group. With a sign that holds for x / y and x mod y where x is not negative.
#include <algorithm>

#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler::axis {
namespace {

namespace arith = mlir::arith;
using llvm::APInt;
using mlir::Operation;

APInt Bits(int64_t value, unsigned width) { return APInt(64, static_cast<uint64_t>(value)).trunc(width); }

bool Holds(arith::CmpIPredicate predicate, const APInt& l, const APInt& r) {
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return l == r;
    case arith::CmpIPredicate::ne:
      return l != r;
    case arith::CmpIPredicate::slt:
      return l.slt(r);
    case arith::CmpIPredicate::sle:
      return l.sle(r);
    case arith::CmpIPredicate::sgt:
      return l.sgt(r);
    case arith::CmpIPredicate::sge:
      return l.sge(r);
    case arith::CmpIPredicate::ult:
      return l.ult(r);
    case arith::CmpIPredicate::ule:
      return l.ule(r);
    case arith::CmpIPredicate::ugt:
      return l.ugt(r);
    case arith::CmpIPredicate::uge:
      return l.uge(r);
  }
  llvm_unreachable("all predicates are listed");
}

// The value of `op` on constants; nullopt where it has none (division by zero, shift by the width or more).
std::optional<APInt> Fold(Operation* op, const APInt& l, const APInt& r) {
  bool divides = !r.isZero() && !(l.isMinSignedValue() && r.isAllOnes());
  bool shifts = r.ult(l.getBitWidth());
  auto when = [](bool ok, auto value) { return ok ? std::optional<APInt>(value()) : std::nullopt; };
  return llvm::TypeSwitch<Operation*, std::optional<APInt>>(op)
      .Case<arith::AddIOp>([&](auto) { return l + r; })
      .Case<arith::SubIOp>([&](auto) { return l - r; })
      .Case<arith::MulIOp>([&](auto) { return l * r; })
      .Case<arith::DivSIOp>([&](auto) { return when(divides, [&] { return l.sdiv(r); }); })
      .Case<arith::DivUIOp>([&](auto) { return when(divides, [&] { return l.udiv(r); }); })
      .Case<arith::RemSIOp>([&](auto) { return when(divides, [&] { return l.srem(r); }); })
      .Case<arith::RemUIOp>([&](auto) { return when(divides, [&] { return l.urem(r); }); })
      .Case<arith::ShLIOp>([&](auto) { return when(shifts, [&] { return l.shl(r); }); })
      .Case<arith::ShRSIOp>([&](auto) { return when(shifts, [&] { return l.ashr(r); }); })
      .Case<arith::ShRUIOp>([&](auto) { return when(shifts, [&] { return l.lshr(r); }); })
      .Case<arith::AndIOp>([&](auto) { return l & r; })
      .Case<arith::OrIOp>([&](auto) { return l | r; })
      .Case<arith::XOrIOp>([&](auto) { return l ^ r; })
      .Case<arith::MaxSIOp>([&](auto) { return l.sgt(r) ? l : r; })
      .Case<arith::MaxUIOp>([&](auto) { return l.ugt(r) ? l : r; })
      .Case<arith::MinSIOp>([&](auto) { return l.slt(r) ? l : r; })
      .Case<arith::MinUIOp>([&](auto) { return l.ult(r) ? l : r; })
      .Case<arith::CmpIOp>([&](auto cmp) { return APInt(1, Holds(cmp.getPredicate(), l, r)); })
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<AxisInfo> FoldedBinary(Operation* op, const AxisInfo& l, const AxisInfo& r) {
  unsigned width = WidthOf(op->getOperand(0).getType());
  if (!l.constant || !r.constant || width == 0 || width > 64) return std::nullopt;
  std::optional<APInt> value = Fold(op, Bits(*l.constant, width), Bits(*r.constant, width));
  if (!value) return std::nullopt;
  return Constant(ShapeOf(op->getResult(0).getType()), Normalised(value->getSExtValue(), value->getBitWidth()));
}

// One rule along one dimension of both operands.
template <typename Rule>
AxisInfo AlongEach(const AxisInfo& l, const AxisInfo& r, Rule rule) {
  AxisInfo info;
  for (auto [x, y] : llvm::zip_equal(l.dims, r.dims)) info.dims.push_back(rule(x, y));
  return info;
}

// l + r, or a pointer and an offset of r elements, each `step` bytes.
AxisInfo Add(const AxisInfo& l, const AxisInfo& r, int64_t step) {
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t group = std::max(std::min(x.constancy, y.contiguity), std::min(x.contiguity, y.constancy));
    int64_t constancy = std::min(x.constancy, y.constancy);
    if (x.contiguity > 1 && y.contiguity > 1 && group == 1) {
      // Both run on: the sum moves by an even number of steps from where both groups started.
      return {1, std::min({x.divisibility, Times(y.divisibility, step), Times(2, step)}), constancy};
    }
    return {group, std::min(StartDivisibility(x, group, step), Times(StartDivisibility(y, group, 1), step)), constancy};
  });
}

AxisInfo Sub(const AxisInfo& l, const AxisInfo& r) {
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t group = std::min(x.contiguity, y.constancy);
    int64_t constancy = std::min(x.constancy, y.constancy);
    if (x.contiguity > 1 && y.contiguity > 1 && group == 1) {
      int64_t both = std::min(x.divisibility, y.divisibility);
      return {1, x.contiguity == y.contiguity ? both : std::min<int64_t>(both, 2), constancy};
    }
    return {group, std::min(StartDivisibility(x, group, 1), StartDivisibility(y, group, 1)), constancy};
  });
}

AxisInfo Mul(const AxisInfo& l, const AxisInfo& r) {
  if (l.constant == 1) return r;
  if (r.constant == 1) return l;
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    return {1, Times(StartDivisibility(x, 1, 1), StartDivisibility(y, 1, 1)), std::min(x.constancy, y.constancy)};
  });
}

// The largest group of x that starts at a multiple of its size and meets one y that is a multiple of it too.
int64_t CommonGroup(const AxisDim& x, const AxisDim& y) {
  if (x.contiguity == 1 || y.contiguity > 1) return 1;
  return std::min({x.contiguity, x.divisibility, y.divisibility, y.constancy});
}

// As CommonGroup, for a dividend and a divisor.
int64_t DivisionGroup(Operation* op, const AxisInfo& dividend, const AxisDim& x, const AxisDim& y) {
  const bool rounds_to_zero = llvm::isa<arith::DivSIOp, arith::RemSIOp>(op);
  return rounds_to_zero && !dividend.non_negative ? 1 : CommonGroup(x, y);
}

AxisInfo Div(Operation* op, const AxisInfo& l, const AxisInfo& r) {
  if (r.constant == 1) return l;
  if (l.constant == 0) return l;
  uint64_t divisor = r.constant ? static_cast<uint64_t>(*r.constant) : 0;
  if (r.constant && *r.constant < 0) divisor = llvm::isa<arith::DivSIOp>(op) ? 0 - divisor : 0;
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t divisibility = 1;
    if (llvm::isPowerOf2_64(divisor)) {
      divisibility = std::max<int64_t>(1, StartDivisibility(x, 1, 1) >> llvm::Log2_64(divisor));
    }
    return {1, divisibility, std::max(std::min(x.constancy, y.constancy), DivisionGroup(op, l, x, y))};
  });
}

AxisInfo Rem(Operation* op, const AxisInfo& l, const AxisInfo& r) {
  if (r.constant == 1 || l.constant == 0) return Constant(ShapeOf(op->getResult(0).getType()), 0);
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t group = DivisionGroup(op, l, x, y);
    return {group, std::min(StartDivisibility(x, group, 1), StartDivisibility(y, 1, 1)),
            std::min(x.constancy, y.constancy)};
  });
}

AxisInfo ShiftLeft(Operation* op, const AxisInfo& l, const AxisInfo& r) {
  if (r.constant == 0) return l;
  int64_t shift = r.constant.value_or(0);
  if (shift < 0 || shift >= WidthOf(op->getResult(0).getType())) return Unknown(l.Rank());
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t divisibility = StartDivisibility(x, 1, 1);
    return {1, shift >= 62 ? kUnbounded : Times(divisibility, int64_t{1} << shift), std::min(x.constancy, y.constancy)};
  });
}

AxisInfo ShiftRight(Operation* op, const AxisInfo& l, const AxisInfo& r) {
  if (r.constant == 0) return l;
  if (r.constant && (*r.constant < 0 || *r.constant >= 62)) return Unknown(l.Rank());
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t constancy = std::min(x.constancy, y.constancy);
    if (!r.constant) return {1, 1, constancy};
    int64_t group = x.contiguity == 1 ? 1 : std::min({x.contiguity, x.divisibility, int64_t{1} << *r.constant});
    return {1, std::max<int64_t>(1, StartDivisibility(x, 1, 1) >> *r.constant), std::max(constancy, group)};
  });
}

AxisInfo And(const AxisInfo& l, const AxisInfo& r) {
  // x & (2^k - 1) is x mod 2^k.
  for (auto [value, mask] : {std::pair(&l, &r), std::pair(&r, &l)}) {
    if (mask->constant == -1) return *value;
    if (!mask->constant || *mask->constant >= kUnbounded || !llvm::isMask_64(*mask->constant)) continue;
    int64_t modulus = *mask->constant + 1;
    return AlongEach(*value, *mask, [&](const AxisDim& x, const AxisDim&) -> AxisDim {
      int64_t group = x.contiguity == 1 ? 1 : std::min({x.contiguity, x.divisibility, modulus});
      return {group, std::min(StartDivisibility(x, group, 1), modulus), x.constancy};
    });
  }
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    return {1, std::max(StartDivisibility(x, 1, 1), StartDivisibility(y, 1, 1)), std::min(x.constancy, y.constancy)};
  });
}

AxisInfo Or(const AxisInfo& l, const AxisInfo& r) {
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    return {1, std::min(StartDivisibility(x, 1, 1), StartDivisibility(y, 1, 1)), std::min(x.constancy, y.constancy)};
  });
}

AxisInfo Compare(arith::CmpIOp op, const AxisInfo& l, const AxisInfo& r) {
  using P = arith::CmpIPredicate;
  P p = op.getPredicate();
  bool less = p == P::slt || p == P::ult || p == P::sge || p == P::uge;     // x < y, x >= y: change where x passes y
  bool greater = p == P::sgt || p == P::ugt || p == P::sle || p == P::ule;  // the same with sides exchanged
  return AlongEach(l, r, [&](const AxisDim& x, const AxisDim& y) -> AxisDim {
    int64_t constancy = std::min(x.constancy, y.constancy);
    if (less) constancy = std::max(constancy, CommonGroup(x, y));
    if (greater) constancy = std::max(constancy, CommonGroup(y, x));
    return {1, 1, constancy};
  });
}

AxisInfo Select(mlir::Type type, const AxisInfo& condition, bool uniform, const AxisInfo& l, const AxisInfo& r) {
  if (condition.constant) return *condition.constant ? l : r;
  int64_t step = StepOf(type);
  AxisInfo info = Join(l, r, step);
  if (uniform) return info;
  for (auto [dim, x, y, c] : llvm::zip_equal(info.dims, l.dims, r.dims, condition.dims)) {
    int64_t group = std::min(dim.contiguity, c.constancy);
    dim = {group, std::min(StartDivisibility(x, group, step), StartDivisibility(y, group, step)),
           std::min(dim.constancy, c.constancy)};
  }
  return info;
}

AxisInfo CastInteger(Operation* op, const AxisInfo& src) {
  unsigned from = WidthOf(op->getOperand(0).getType()), to = WidthOf(op->getResult(0).getType());
  if (src.constant) {
    int64_t value = *src.constant;
    if (llvm::isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && from < 64) value &= (int64_t{1} << from) - 1;
    if (llvm::isa<arith::ExtSIOp, arith::IndexCastOp>(op) && from == 1) value = -value;
    return Constant(ShapeOf(op->getResult(0).getType()), Normalised(value, to));
  }
  if (to >= from || to >= 32) return src;
  AxisInfo info = src;  // a narrow type wraps around in the middle of a long group
  for (AxisDim& dim : info.dims) {
    int64_t group = std::min(dim.contiguity, int64_t{1} << (to - 1));
    dim = {group, StartDivisibility(dim, group, 1), dim.constancy};
  }
  return info;
}

// Values keep their bits, but what counts as the next one in memory may change.
AxisInfo Reinterpret(mlir::Type from, mlir::Type to, const AxisInfo& src) {
  auto countable = [](mlir::Type type) { return WidthOf(type) != 0 || llvm::isa<tt::PtrType>(tt::ElementOf(type)); };
  AxisInfo info = src;
  if (WidthOf(from) == 0 || WidthOf(to) == 0) info.constant.reset();
  bool both = countable(from) && countable(to);
  if (both && StepOf(from) == StepOf(to)) return info;
  for (AxisDim& dim : info.dims) {
    dim = {1, both ? StartDivisibility(dim, 1, StepOf(from)) : 1, dim.constancy};
  }
  return info;
}

AxisInfo OfConstant(arith::ConstantOp op) {
  llvm::SmallVector<int64_t, 2> shape = ShapeOf(op.getType());
  mlir::Attribute value = op.getValue();
  if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value)) {
    if (!dense.isSplat()) return Unknown(shape.size());
    value = dense.getSplatValue<mlir::Attribute>();
  }
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value);
  if (integer && integer.getValue().getBitWidth() <= 64) {
    return Constant(shape, Normalised(integer.getValue().getSExtValue(), integer.getValue().getBitWidth()));
  }
  AxisInfo info = Unknown(shape.size());
  for (auto [dim, size] : llvm::zip_equal(info.dims, shape)) dim.constancy = size;
  return info;
}

// Any function of each element alone: equal operands, equal results.
std::optional<AxisInfo> EqualWhereOperandsAre(Operation* op, OperandInfos operands) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || llvm::isa<tt::ElementwiseInlineAsmOp>(op) ||
      !op->hasTrait<mlir::OpTrait::Elementwise>() || !mlir::isMemoryEffectFree(op)) {
    return std::nullopt;
  }
  llvm::SmallVector<int64_t, 2> shape = ShapeOf(op->getResult(0).getType());
  AxisInfo info = Unknown(shape.size());
  for (auto [dim, size] : llvm::zip_equal(info.dims, shape)) dim.constancy = size;
  for (auto [operand, known] : llvm::zip_equal(op->getOperands(), operands)) {
    if (ShapeOf(operand.getType()) != shape) return std::nullopt;
    for (auto [dim, from] : llvm::zip_equal(info.dims, known.dims)) {
      dim.constancy = std::min(dim.constancy, from.constancy);
    }
  }
  return info;
}

std::optional<AxisInfo> TransferBinary(Operation* op, OperandInfos in) {
  if (auto folded = FoldedBinary(op, in[0], in[1])) return folded;
  return llvm::TypeSwitch<Operation*, std::optional<AxisInfo>>(op)
      .Case<tt::AddPtrOp>([&](auto add) { return Add(in[0], in[1], StepOf(add.getType())); })
      .Case<arith::AddIOp>([&](auto) { return Add(in[0], in[1], 1); })
      .Case<arith::MulIOp>([&](auto) { return Mul(in[0], in[1]); })
      .Case<arith::CmpIOp>([&](auto cmp) { return Compare(cmp, in[0], in[1]); })
      .Case<arith::AndIOp>([&](auto) { return And(in[0], in[1]); })
      .Case<arith::SubIOp>([&](auto) { return Sub(in[0], in[1]); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { return Div(op, in[0], in[1]); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return Rem(op, in[0], in[1]); })
      .Case<arith::ShLIOp>([&](auto) { return ShiftLeft(op, in[0], in[1]); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return ShiftRight(op, in[0], in[1]); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return Or(in[0], in[1]); })
      // The greater or lesser of two values that run on in step is one of them throughout a group.
      .Case<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>([&](auto) { return Join(in[0], in[1], 1); })
      .Default([](Operation*) { return std::nullopt; });
}

}  // namespace

std::optional<AxisInfo> TransferArithmetic(Operation* op, OperandInfos in) {
  if (op->getNumResults() != 1) return std::nullopt;
  if (in.size() == 2) {
    if (auto info = TransferBinary(op, in)) return info;
  }
  auto reinterpret = [&](auto) { return Reinterpret(op->getOperand(0).getType(), op->getResult(0).getType(), in[0]); };
  auto known = llvm::TypeSwitch<Operation*, std::optional<AxisInfo>>(op)
                   .Case([&](arith::ConstantOp constant) { return OfConstant(constant); })
                   .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>(
                       [&](auto) { return CastInteger(op, in[0]); })
                   .Case([&](arith::SelectOp select) {
                     bool uniform = !llvm::isa<mlir::RankedTensorType>(select.getCondition().getType());
                     return Select(select.getType(), in[0], uniform, in[1], in[2]);
                   })
                   .Case<tt::BitcastOp, tt::PtrToIntOp, tt::IntToPtrOp>(reinterpret)
                   .Case([&](tt::BlockMaskOp) { return in[0]; })
                   .Default([](Operation*) { return std::nullopt; });
  return known ? known : EqualWhereOperandsAre(op, in);
}

}  // namespace tritond::compiler::axis
