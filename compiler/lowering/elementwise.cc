// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, selects and integer casts: one LLVM operation an element. Elements of a thread that are
// known to be equal are computed once: those of equal operands, those in a group of constancy, and remainders that
// repeat. The second are, for example, comparisons and quotients of an index that runs on. Where the remainders of
// neighbours run on, too, one division serves them all.
//
// bf16 has no arithmetic on older devices. It is computed in f32 and rounded back, which is exactly rounded bf16
// arithmetic for +, -, *, / (f32 has more than twice its precision).
#include "compiler/lowering/elementwise.h"

#include <map>

#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/speculation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;
namespace arith = mlir::arith;

// More than a dimension has elements.
static constexpr int64_t kAll = int64_t{1} << 30;

// After how many elements along `dim` those of a remainder repeat: of an index that runs on, by a power of two.
static int64_t PeriodOf(FunctionLowering& f, mlir::Operation* op, unsigned dim) {
  if (!llvm::isa<arith::RemSIOp, arith::RemUIOp>(op)) return kAll;
  const AxisInfo index = f.axis.Get(op->getOperand(0));
  const int64_t divisor = f.axis.Get(op->getOperand(1)).constant.value_or(0);
  const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  const bool runs_on = index.dims[dim].contiguity >= type.getDimSize(dim);
  const bool is_modular = index.non_negative || llvm::isa<arith::RemUIOp>(op);
  return runs_on && is_modular && divisor > 0 && llvm::isPowerOf2_64(divisor) ? divisor : kAll;
}

// A register that holds an element which lies below another one by `distance`.
struct Base {
  int first = 0;
  int64_t distance = 0;
};

// How many neighbours of a thread along `dim` are sums of the first one and a number: of a remainder that a division
// makes. What the kernel says of it is left out, as it may not hold where nothing is accessed.
static int64_t NeighboursThatRunOn(FunctionLowering& f, mlir::Operation* op, unsigned dim) {
  if (!llvm::isa<arith::RemSIOp, arith::RemUIOp>(op)) return 1;
  const AxisInfo index = f.axis.Get(op->getOperand(0)), divisor = f.axis.Get(op->getOperand(1));
  const bool is_masked = divisor.constant && llvm::isPowerOf2_64(*divisor.constant);
  std::optional<AxisInfo> made = is_masked ? std::nullopt : axis::TransferArithmetic(op, {index, divisor});
  if (!made) return 1;
  const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  const int64_t in_registers =
      f.LayoutOf(type).NumConsecutive("register", ttg::DimNames(static_cast<int>(type.getRank()))[dim]);
  return std::min(made->dims[dim].contiguity, in_registers);
}

// For each register of the result of `op`, the first one that tells its element; empty where nothing says so.
static llvm::SmallVector<Base> BasesOfRegisters(FunctionLowering& f, mlir::Operation* op) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isInteger()) return {};
  struct Group {
    int64_t period = kAll, equal = 1, running = 1;  // neighbours
    bool IsOne() const { return period == kAll && equal * running == 1; }
  };
  llvm::SmallVector<Group> groups;  // by dimension
  for (auto [dim, known] : llvm::enumerate(f.axis.Get(op->getResult(0)).dims)) {
    const int64_t equal = std::min(known.constancy, kAll);
    groups.push_back({PeriodOf(f, op, dim), equal, equal > 1 ? 1 : NeighboursThatRunOn(f, op, dim)});
  }
  if (llvm::all_of(groups, [](const Group& group) { return group.IsOne(); })) return {};
  const LinearLayout& layout = f.LayoutOf(type);
  std::map<Coordinates, Base> first_of;
  llvm::SmallVector<Base> bases;
  for (int r = 0; r < layout.InSize("register"); ++r) {
    // Threads add to coordinates by XOR: registers of one group stay in one. Those that run on are a thread's own.
    Coordinates place = layout.ApplyNamed({{"register", r}});
    int64_t distance = 0;
    for (auto [at, group] : llvm::zip(place, groups)) {
      distance += at % group.running;
      at = at % group.period / (group.equal * group.running);
    }
    const Base& base = first_of.try_emplace(place, Base{r, distance}).first->second;
    bases.push_back({base.first, distance - base.distance});
  }
  return bases;
}

LogicalResult LowerPerElement(FunctionLowering& f, mlir::Operation* op, ElementFn emit) {
  llvm::SmallVector<ValueList> operands;
  size_t count = 1;
  for (Value operand : op->getOperands()) operands.push_back(f.Get(operand));
  if (!operands.empty()) count = operands[0].size();
  llvm::DenseMap<std::pair<Value, std::pair<Value, Value>>, Value> done;
  llvm::SmallVector<Base> bases = count > 1 ? BasesOfRegisters(f, op) : llvm::SmallVector<Base>();
  bool few = operands.size() <= 3;
  Values results, element(operands.size());
  for (size_t i = 0; i < count; ++i) {
    if (!bases.empty() && bases[i].first < static_cast<int>(i)) {
      const Value base = results[bases[i].first];
      const unsigned bits = base.getType().getIntOrFloatBitWidth();
      results.push_back(bases[i].distance == 0
                            ? base
                            : Value(LLVM::AddOp::create(f.e.b, f.e.loc, base, f.e.Int(bases[i].distance, bits))));
      continue;
    }
    for (auto [slot, list] : llvm::zip(element, operands)) slot = list[i];
    auto at = [&](size_t k) { return k < element.size() ? element[k] : Value(); };
    Value* shared = few ? &done[{at(0), {at(1), at(2)}}] : nullptr;
    if (shared && *shared) {
      results.push_back(*shared);
      continue;
    }
    FailureOr<Value> result = emit(element);
    if (failed(result)) return mlir::failure();
    results.push_back(*result);
    if (few) done[{at(0), {at(1), at(2)}}] = *result;
  }
  f.Set(op->getResult(0), results);
  return mlir::success();
}

Value ExtendToF32(Emitter& e, Value x) {
  return x.getType().isBF16() || x.getType().isF16() ? Value(LLVM::FPExtOp::create(e.b, e.loc, e.b.getF32Type(), x))
                                                     : x;
}

Value TruncFromF32(Emitter& e, Value x, mlir::Type type) {
  return x.getType() == type ? x : Value(LLVM::FPTruncOp::create(e.b, e.loc, type, x));
}

namespace {

// `Llvm` on each element; floats of type bf16 by way of f32.
template <typename Llvm>
LogicalResult LowerBinary(FunctionLowering& f, mlir::Operation* op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    mlir::Type type = x[0].getType();
    if (!type.isBF16()) return Value(Llvm::create(f.e.b, f.e.loc, x[0], x[1]));
    Value wide = Llvm::create(f.e.b, f.e.loc, ExtendToF32(f.e, x[0]), ExtendToF32(f.e, x[1]));
    return TruncFromF32(f.e, wide, type);
  });
}

template <typename Arith, typename Llvm>
void AddBinary(LoweringTable& table) {
  table.AddAll<Arith>(LowerBinary<Llvm>);
}

// Integer addition and the like keep no overflow flags: the index arithmetic of kernels wraps as written.
template <typename Arith, typename Llvm>
void AddIntegerBinary(LoweringTable& table) {
  table.AddAll<Arith>([](FunctionLowering& f, mlir::Operation* op) {
    return LowerPerElement(
        f, op, [&](ValueList x) -> FailureOr<Value> { return Value(Llvm::create(f.e.b, f.e.loc, x[0], x[1])); });
  });
}

template <typename Arith, typename Llvm>
void AddRemainder(LoweringTable& table) {
  table.AddAll<Arith>([](FunctionLowering& f, mlir::Operation* op) {
    const bool has_any_divisor = op->hasAttr(kAnyDivisorAttr);
    return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
      Value divisor = x[1];
      // Without a sign, so that negative divisors stay.
      if (has_any_divisor)
        divisor = LLVM::UMaxOp::create(f.e.b, f.e.loc, divisor, f.e.Int(1, divisor.getType().getIntOrFloatBitWidth()));
      return Value(Llvm::create(f.e.b, f.e.loc, x[0], divisor));
    });
  });
}

// Addition, subtraction and multiplication carry the no-signed-wrap promise of the source, which lets the compiler
// split addresses into a base and a constant.
template <typename Arith, typename Llvm>
LogicalResult LowerOverflowing(FunctionLowering& f, Arith op) {
  auto flags = LLVM::IntegerOverflowFlags::none;
  if (bitEnumContainsAny(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw))
    flags = flags | LLVM::IntegerOverflowFlags::nsw;
  if (bitEnumContainsAny(op.getOverflowFlags(), arith::IntegerOverflowFlags::nuw))
    flags = flags | LLVM::IntegerOverflowFlags::nuw;
  return LowerPerElement(
      f, op, [&](ValueList x) -> FailureOr<Value> { return Value(Llvm::create(f.e.b, f.e.loc, x[0], x[1], flags)); });
}

LogicalResult LowerConstant(FunctionLowering& f, arith::ConstantOp op) {
  auto element_of = [&](mlir::Attribute value, mlir::Type type) -> Value {
    mlir::Type llvm_type = f.ConvertType(type);
    if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value); number && llvm_type.isInteger(8))
      return f.e.Int(number.getValue().bitcastToAPInt().getZExtValue(), 8);
    if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(value); number && number.getType() != llvm_type)
      return f.e.Int(number.getInt(), llvm_type.getIntOrFloatBitWidth());
    return f.e.Constant(llvm_type, value);
  };
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(op.getType());
  if (!tensor) return f.Set(op, {element_of(op.getValue(), op.getType())}), mlir::success();
  auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
  if (!elements || !elements.isSplat())
    return op.emitOpError("only constants of one value for all elements are supported");
  Value value = element_of(elements.getSplatValue<mlir::Attribute>(), tensor.getElementType());
  f.Set(op, Values(f.NumRegisters(tensor), value));
  return mlir::success();
}

LLVM::ICmpPredicate Predicate(arith::CmpIPredicate predicate) {
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return LLVM::ICmpPredicate::eq;
    case arith::CmpIPredicate::ne:
      return LLVM::ICmpPredicate::ne;
    case arith::CmpIPredicate::slt:
      return LLVM::ICmpPredicate::slt;
    case arith::CmpIPredicate::sle:
      return LLVM::ICmpPredicate::sle;
    case arith::CmpIPredicate::sgt:
      return LLVM::ICmpPredicate::sgt;
    case arith::CmpIPredicate::sge:
      return LLVM::ICmpPredicate::sge;
    case arith::CmpIPredicate::ult:
      return LLVM::ICmpPredicate::ult;
    case arith::CmpIPredicate::ule:
      return LLVM::ICmpPredicate::ule;
    case arith::CmpIPredicate::ugt:
      return LLVM::ICmpPredicate::ugt;
    case arith::CmpIPredicate::uge:
      return LLVM::ICmpPredicate::uge;
  }
  llvm_unreachable("predicate");
}

LLVM::FCmpPredicate Predicate(arith::CmpFPredicate predicate) {
  switch (predicate) {
    case arith::CmpFPredicate::AlwaysFalse:
      return LLVM::FCmpPredicate::_false;
    case arith::CmpFPredicate::OEQ:
      return LLVM::FCmpPredicate::oeq;
    case arith::CmpFPredicate::OGT:
      return LLVM::FCmpPredicate::ogt;
    case arith::CmpFPredicate::OGE:
      return LLVM::FCmpPredicate::oge;
    case arith::CmpFPredicate::OLT:
      return LLVM::FCmpPredicate::olt;
    case arith::CmpFPredicate::OLE:
      return LLVM::FCmpPredicate::ole;
    case arith::CmpFPredicate::ONE:
      return LLVM::FCmpPredicate::one;
    case arith::CmpFPredicate::ORD:
      return LLVM::FCmpPredicate::ord;
    case arith::CmpFPredicate::UEQ:
      return LLVM::FCmpPredicate::ueq;
    case arith::CmpFPredicate::UGT:
      return LLVM::FCmpPredicate::ugt;
    case arith::CmpFPredicate::UGE:
      return LLVM::FCmpPredicate::uge;
    case arith::CmpFPredicate::ULT:
      return LLVM::FCmpPredicate::ult;
    case arith::CmpFPredicate::ULE:
      return LLVM::FCmpPredicate::ule;
    case arith::CmpFPredicate::UNE:
      return LLVM::FCmpPredicate::une;
    case arith::CmpFPredicate::UNO:
      return LLVM::FCmpPredicate::uno;
    case arith::CmpFPredicate::AlwaysTrue:
      return LLVM::FCmpPredicate::_true;
  }
  llvm_unreachable("predicate");
}

LogicalResult LowerCmpI(FunctionLowering& f, arith::CmpIOp op) {
  return LowerPerElement(
      f, op, [&](ValueList x) -> FailureOr<Value> { return f.e.Compare(Predicate(op.getPredicate()), x[0], x[1]); });
}

LogicalResult LowerCmpF(FunctionLowering& f, arith::CmpFOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    bool wide = x[0].getType().isBF16();
    Value a = wide ? ExtendToF32(f.e, x[0]) : x[0], b = wide ? ExtendToF32(f.e, x[1]) : x[1];
    return Value(LLVM::FCmpOp::create(f.e.b, f.e.loc, Predicate(op.getPredicate()), a, b));
  });
}

LogicalResult LowerSelect(FunctionLowering& f, arith::SelectOp op) {
  Values results;
  ValueList condition = f.Get(op.getCondition()), yes = f.Get(op.getTrueValue()), no = f.Get(op.getFalseValue());
  for (size_t i = 0; i < yes.size(); ++i)
    results.push_back(f.e.Select(condition[condition.size() == 1 ? 0 : i], yes[i], no[i]));
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerNegate(FunctionLowering& f, arith::NegFOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    // On the bits, so that it is right for every format and NaN.
    Value bits = f.e.ToInt(x[0]);
    unsigned width = bits.getType().getIntOrFloatBitWidth();
    return f.e.FromInt(f.e.Xor(bits, f.e.Int(int64_t{1} << (width - 1), width)), x[0].getType());
  });
}

// IEEE 754-2019 maximum and minimum: a NaN wins. In terms of maxnum, which the device has for all formats.
template <typename Num, bool kMax>
LogicalResult LowerNanPropagating(FunctionLowering& f, mlir::Operation* op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Emitter& e = f.e;
    mlir::Type type = x[0].getType();
    bool narrow = type.isBF16();
    Value a = narrow ? ExtendToF32(e, x[0]) : x[0], b = narrow ? ExtendToF32(e, x[1]) : x[1];
    Value result;
    if (a.getType().isF64()) {
      // Equal operands have equal bits, but for zeros: of those maximum takes +0, minimum -0.
      Value bits = kMax ? e.And(e.ToInt(a), e.ToInt(b)) : e.Or(e.ToInt(a), e.ToInt(b));
      Value equal = LLVM::FCmpOp::create(e.b, e.loc, LLVM::FCmpPredicate::oeq, a, b);
      Value number = e.Select(equal, e.FromInt(bits, a.getType()), Num::create(e.b, e.loc, a, b));
      Value sum = LLVM::FAddOp::create(e.b, e.loc, a, b);  // NaN when an operand is
      Value is_nan = LLVM::FCmpOp::create(e.b, e.loc, LLVM::FCmpPredicate::uno, a, b);
      result = e.Select(is_nan, sum, number);
    } else if constexpr (kMax) {
      result = LLVM::MaximumOp::create(e.b, e.loc, a, b);
    } else {
      result = LLVM::MinimumOp::create(e.b, e.loc, a, b);
    }
    return narrow ? TruncFromF32(e, result, type) : result;
  });
}

template <typename Llvm>
LogicalResult LowerIntCast(FunctionLowering& f, mlir::Operation* op) {
  mlir::Type type = f.ConvertType(tt::ElementOf(op->getResult(0).getType()));
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    if (x[0].getType() == type) return x[0];
    return Value(Llvm::create(f.e.b, f.e.loc, type, x[0]));
  });
}

LogicalResult LowerIndexCast(FunctionLowering& f, mlir::Operation* op) {
  mlir::Type type = f.ConvertType(tt::ElementOf(op->getResult(0).getType()));
  bool is_signed = llvm::isa<arith::IndexCastOp>(op);
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    unsigned from = x[0].getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from >= to) return f.e.Trunc(x[0], to);
    return is_signed ? Value(LLVM::SExtOp::create(f.e.b, f.e.loc, type, x[0])) : f.e.ZExt(x[0], to);
  });
}

// The low and the high half of a product. The high one is the target's, or both are those of a product of twice the
// width.
template <typename Extend>
FailureOr<std::pair<Value, Value>> EmitHalves(FunctionLowering& f, Value x, Value y) {
  Emitter& e = f.e;
  FailureOr<Value> high = f.target.MultiplyHigh(e.b, e.loc, x, y, std::is_same_v<Extend, LLVM::SExtOp>);
  if (failed(high)) return mlir::failure();
  if (*high) return std::make_pair(Value(LLVM::MulOp::create(e.b, e.loc, x, y)), *high);
  unsigned width = x.getType().getIntOrFloatBitWidth();
  mlir::Type wide = e.b.getIntegerType(2 * width);
  Value product =
      LLVM::MulOp::create(e.b, e.loc, Extend::create(e.b, e.loc, wide, x), Extend::create(e.b, e.loc, wide, y));
  return std::make_pair(e.Trunc(product, width), e.Trunc(e.LShr(product, width), width));
}

LogicalResult LowerMulHigh(FunctionLowering& f, tt::MulhiUIOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    auto halves = EmitHalves<LLVM::ZExtOp>(f, x[0], x[1]);
    if (failed(halves)) return mlir::failure();
    return halves->second;
  });
}

template <typename Extend>
LogicalResult LowerMulExtended(FunctionLowering& f, mlir::Operation* op) {
  Values low, high;
  for (auto [x, y] : llvm::zip(f.Get(op->getOperand(0)), f.Get(op->getOperand(1)))) {
    auto halves = EmitHalves<Extend>(f, x, y);
    if (failed(halves)) return mlir::failure();
    low.push_back(halves->first);
    high.push_back(halves->second);
  }
  f.Set(op->getResult(0), low);
  f.Set(op->getResult(1), high);
  return mlir::success();
}

// The sum, and whether it does not fit.
LogicalResult LowerAddExtended(FunctionLowering& f, arith::AddUIExtendedOp op) {
  Emitter& e = f.e;
  Values sums, carries;
  for (auto [x, y] : llvm::zip(f.Get(op.getLhs()), f.Get(op.getRhs()))) {
    sums.push_back(LLVM::AddOp::create(e.b, e.loc, x, y));
    carries.push_back(e.Compare(LLVM::ICmpPredicate::ult, sums.back(), x));
  }
  f.Set(op.getSum(), sums);
  f.Set(op.getOverflow(), carries);
  return mlir::success();
}

// Quotients rounded towards +infinity and -infinity, from the truncated one and the remainder's sign.
template <bool kCeil>
LogicalResult LowerRoundedDivision(FunctionLowering& f, mlir::Operation* op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Emitter& e = f.e;
    unsigned width = x[0].getType().getIntOrFloatBitWidth();
    Value quotient = LLVM::SDivOp::create(e.b, e.loc, x[0], x[1]), rest = LLVM::SRemOp::create(e.b, e.loc, x[0], x[1]);
    Value inexact = e.Compare(LLVM::ICmpPredicate::ne, rest, e.Int(0, width));
    Value opposite = e.Compare(LLVM::ICmpPredicate::slt, e.Xor(rest, x[1]), e.Int(0, width));
    Value adjust = e.And(inexact, kCeil ? e.Xor(opposite, e.Bool(true)) : opposite);
    Value step = e.Int(kCeil ? 1 : -1, width);
    return e.Select(adjust, LLVM::AddOp::create(e.b, e.loc, quotient, step), quotient);
  });
}

LogicalResult LowerCeilDivUI(FunctionLowering& f, arith::CeilDivUIOp op) {
  return LowerPerElement(f, op, [&](ValueList x) -> FailureOr<Value> {
    Emitter& e = f.e;
    unsigned width = x[0].getType().getIntOrFloatBitWidth();
    Value quotient = LLVM::UDivOp::create(e.b, e.loc, x[0], x[1]), rest = LLVM::URemOp::create(e.b, e.loc, x[0], x[1]);
    Value inexact = e.Compare(LLVM::ICmpPredicate::ne, rest, e.Int(0, width));
    return Value(LLVM::AddOp::create(e.b, e.loc, quotient, e.ZExt(inexact, width)));
  });
}

}  // namespace

void AddElementwise(LoweringTable& table) {
  table.Add<arith::ConstantOp>(LowerConstant);
  table.Add<arith::AddIOp>(LowerOverflowing<arith::AddIOp, LLVM::AddOp>);
  table.Add<arith::SubIOp>(LowerOverflowing<arith::SubIOp, LLVM::SubOp>);
  table.Add<arith::MulIOp>(LowerOverflowing<arith::MulIOp, LLVM::MulOp>);
  table.Add<arith::ShLIOp>(LowerOverflowing<arith::ShLIOp, LLVM::ShlOp>);
  AddIntegerBinary<arith::ShRSIOp, LLVM::AShrOp>(table);
  AddIntegerBinary<arith::ShRUIOp, LLVM::LShrOp>(table);
  AddIntegerBinary<arith::DivSIOp, LLVM::SDivOp>(table);
  AddIntegerBinary<arith::DivUIOp, LLVM::UDivOp>(table);
  AddRemainder<arith::RemSIOp, LLVM::SRemOp>(table);
  AddRemainder<arith::RemUIOp, LLVM::URemOp>(table);
  AddIntegerBinary<arith::AndIOp, LLVM::AndOp>(table);
  AddIntegerBinary<arith::OrIOp, LLVM::OrOp>(table);
  AddIntegerBinary<arith::XOrIOp, LLVM::XOrOp>(table);
  AddIntegerBinary<arith::MaxSIOp, LLVM::SMaxOp>(table);
  AddIntegerBinary<arith::MinSIOp, LLVM::SMinOp>(table);
  AddIntegerBinary<arith::MaxUIOp, LLVM::UMaxOp>(table);
  AddIntegerBinary<arith::MinUIOp, LLVM::UMinOp>(table);
  table.AddAll<arith::CeilDivSIOp>(LowerRoundedDivision<true>);
  table.Add<arith::CeilDivUIOp>(LowerCeilDivUI);
  table.AddAll<arith::FloorDivSIOp>(LowerRoundedDivision<false>);
  table.Add<arith::AddUIExtendedOp>(LowerAddExtended);
  table.AddAll<arith::MulSIExtendedOp>(LowerMulExtended<LLVM::SExtOp>);
  table.AddAll<arith::MulUIExtendedOp>(LowerMulExtended<LLVM::ZExtOp>);
  table.Add<tt::MulhiUIOp>(LowerMulHigh);
  AddBinary<arith::AddFOp, LLVM::FAddOp>(table);
  AddBinary<arith::SubFOp, LLVM::FSubOp>(table);
  AddBinary<arith::MulFOp, LLVM::FMulOp>(table);
  AddBinary<arith::MaxNumFOp, LLVM::MaxNumOp>(table);
  AddBinary<arith::MinNumFOp, LLVM::MinNumOp>(table);
  table.AddAll<arith::MaximumFOp>(LowerNanPropagating<LLVM::MaxNumOp, true>);
  table.AddAll<arith::MinimumFOp>(LowerNanPropagating<LLVM::MinNumOp, false>);
  table.Add<arith::NegFOp>(LowerNegate);
  table.Add<arith::CmpIOp>(LowerCmpI);
  table.Add<arith::CmpFOp>(LowerCmpF);
  table.Add<arith::SelectOp>(LowerSelect);
  table.AddAll<arith::ExtSIOp>(LowerIntCast<LLVM::SExtOp>);
  table.AddAll<arith::ExtUIOp>(LowerIntCast<LLVM::ZExtOp>);
  table.AddAll<arith::TruncIOp>(LowerIntCast<LLVM::TruncOp>);
  table.AddAll<arith::IndexCastOp, arith::IndexCastUIOp>(LowerIndexCast);
}

}  // namespace tritond::compiler
