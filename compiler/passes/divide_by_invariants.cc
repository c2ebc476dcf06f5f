// SPDX-License-Identifier: Apache-2.0
// No GPU divides 64 bits by an instruction: it computes a reciprocal of the divisor first, each time anew. Where a loop
// divides tensors by a number that it does not change, the reciprocal is computed in front of the loop:
//
//   scf.for … {                                        %a = abs %d ; %m = (2^64 - 1) / %a             unsigned
//     %r = arith.remsi %x, splat %d        ->          scf.for … {
//   }                                                    %n = abs %x
//                                                        %q = tt.mulhiui %n, splat %m
//                                                        %s = %n - %q * %a ; %r = %s >= %a ? %s - %a : %s
//                                                        (with the sign of %x)
//                                                      }
//
// The quotient by %m is the right one or one less. With e = 2^64 - m a, which is at least 1 and at most a, the exact
// quotient n / a exceeds n m / 2^64 by n e / (2^64 a), which is less than 1.
//
// Constant divisors are the business of LLVM, which knows cheaper forms.
#include "compiler/analysis/axis_info.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DIVIDEBYINVARIANTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::LoopLikeOpInterface;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr unsigned kWide = 64;

// A division of a tensor by one number.
struct Division {
  Operation* op;
  Value divisor;             // i64
  LoopLikeOpInterface loop;  // the outermost that does not change it
  bool is_signed, is_remainder;
};

std::optional<Division> Match(Operation* op) {
  const bool is_signed = llvm::isa<arith::DivSIOp, arith::RemSIOp>(op);
  if (!is_signed && !llvm::isa<arith::DivUIOp, arith::RemUIOp>(op)) return std::nullopt;
  auto type = llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto splat = op->getOperand(1).getDefiningOp<tt::SplatOp>();
  if (!type || !type.getElementType().isInteger(kWide) || !splat) return std::nullopt;
  Value divisor = splat.getSrc();
  if (mlir::matchPattern(divisor, mlir::m_Constant())) return std::nullopt;
  LoopLikeOpInterface outermost;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop && loop.isDefinedOutsideOfLoop(divisor);
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    outermost = loop;
  if (!outermost) return std::nullopt;
  return Division{op, divisor, outermost, is_signed, llvm::isa<arith::RemSIOp, arith::RemUIOp>(op)};
}

// Emits arithmetic of i64 at one place: of numbers, or of tensors of one type.
class Arithmetic final {
 public:
  Arithmetic(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type) : b_(b), loc_(loc), type_(type) {}

  Value Constant(int64_t value) {
    mlir::TypedAttr number = b_.getI64IntegerAttr(value);
    if (auto tensor = llvm::dyn_cast<RankedTensorType>(type_)) number = mlir::DenseElementsAttr::get(tensor, number);
    return arith::ConstantOp::create(b_, loc_, number);
  }
  Value Splat(Value number) { return tt::SplatOp::create(b_, loc_, type_, number); }
  template <typename Op>
  Value Emit(Value x, Value y) {
    return Op::create(b_, loc_, x, y);
  }
  // All bits of the sign.
  Value Sign(Value x) { return Emit<arith::ShRSIOp>(x, Constant(kWide - 1)); }
  // `x`, or its negative where `sign` has all bits.
  Value Signed(Value x, Value sign) { return Emit<arith::SubIOp>(Emit<arith::XOrIOp>(x, sign), sign); }
  Value MultiplyHigh(Value x, Value y) { return tt::MulhiUIOp::create(b_, loc_, type_, x, y); }
  Value IsAtLeast(Value x, Value y) { return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::uge, x, y); }
  Value Select(Value condition, Value x, Value y) { return arith::SelectOp::create(b_, loc_, condition, x, y); }

 private:
  mlir::OpBuilder& b_;
  mlir::Location loc_;
  mlir::Type type_;
};

void Rewrite(const Division& division) {
  mlir::OpBuilder b(division.loop);
  Arithmetic once(b, division.op->getLoc(), b.getI64Type());
  Value magnitude = division.divisor, sign;
  if (division.is_signed) {
    sign = once.Sign(magnitude);
    magnitude = once.Signed(magnitude, sign);
  }
  // The loop may never divide, and so the divisor may be zero.
  magnitude = once.Emit<arith::MaxUIOp>(magnitude, once.Constant(1));
  Value reciprocal = once.Emit<arith::DivUIOp>(once.Constant(-1), magnitude);

  b.setInsertionPoint(division.op);
  Arithmetic each(b, division.op->getLoc(), division.op->getResult(0).getType());
  Value dividend = division.op->getOperand(0), dividend_sign;
  if (division.is_signed) {
    dividend_sign = each.Sign(dividend);
    dividend = each.Signed(dividend, dividend_sign);
  }
  Value divisor = each.Splat(magnitude);
  Value quotient = each.MultiplyHigh(dividend, each.Splat(reciprocal));
  Value rest = each.Emit<arith::SubIOp>(dividend, each.Emit<arith::MulIOp>(quotient, divisor));
  Value is_one_less = each.IsAtLeast(rest, divisor);
  Value result;
  if (division.is_remainder) {
    result = each.Select(is_one_less, each.Emit<arith::SubIOp>(rest, divisor), rest);
    if (division.is_signed) result = each.Signed(result, dividend_sign);
  } else {
    result = each.Select(is_one_less, each.Emit<arith::AddIOp>(quotient, each.Constant(1)), quotient);
    if (division.is_signed) result = each.Signed(result, each.Emit<arith::XOrIOp>(dividend_sign, each.Splat(sign)));
  }
  // What is said of the result: tt.contiguity, tt.divisibility, tt.constancy.
  for (mlir::NamedAttribute hint : division.op->getDiscardableAttrs())
    result.getDefiningOp()->setAttr(hint.getName(), hint.getValue());
  division.op->getResult(0).replaceAllUsesWith(result);
  division.op->erase();
}

class DivideByInvariantsPass final : public impl::DivideByInvariantsPassBase<DivideByInvariantsPass> {
  void runOnOperation() override {
    llvm::SmallVector<Division> divisions;
    getOperation().walk([&](Operation* op) {
      if (std::optional<Division> division = Match(op)) divisions.push_back(*division);
    });
    if (divisions.empty()) return;
    // What is known of a quotient or a remainder is not seen in the products that replace it.
    AxisInfoAnalysis axes(getOperation());
    for (const Division& division : divisions) PromiseAxisInfo(division.op, axes.Get(division.op->getResult(0)));
    for (const Division& division : divisions) Rewrite(division);
  }
};

}  // namespace
}  // namespace tritond::compiler
