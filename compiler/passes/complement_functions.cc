// SPDX-License-Identifier: Apache-2.0
// Functions that go to 1 and -1 are often added to 1, or subtracted from it, as in both forms of GELU. The sum is
// simpler than its parts. That of the hyperbolic tangent is a quotient:
//
//   1 + tanh(x) = 2 / (1 + exp(-2 x))
//
// That of the error function is the complement, and the same for both signs:
//
//   1 + erf(x) = erfc(-x);  erfc(|x|) = 2^q(|x|),  erfc(-|x|) = 2 - 2^q(|x|)
//
// Here q is a polynomial. The error function by itself has one for small numbers and one for others, and must be exact
// to a unit of its own near zero. The sum need not be: its error is one unit of 1, as it was. For arguments far below
// zero, where the sum cancels digits, it is less than it was.
//
// Here: f32 alone, and only where nothing else needs the function itself. A common factor may have been multiplied in:
// c + c f(x) is c (1 + f(x)).
#include "compiler/ir/device_functions.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COMPLEMENTFUNCTIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Operation;
using mlir::Value;

// Of q(x) / x, the highest power first: the least absolute error of 2^q on [0, 5], 1.6e-8. The first is negative, so
// that 2^q goes to zero beyond.
constexpr float kLogComplement[] = {-4.53586144e-05F, 4.45507787e-04F,  -1.48944207e-03F, -7.7462889e-04F,
                                    2.82536801e-02F,  -1.48481607e-01F, -9.18416381e-01F, -1.62790859F};
constexpr float kTwiceLog2E = 2.88539008F;

enum class Function { kErf, kTanh };

std::optional<Function> FunctionOf(Operation* op) {
  if (!tt::ElementOf(op->getResult(0).getType()).isF32()) return std::nullopt;
  if (llvm::isa<math::ErfOp>(op)) return Function::kErf;
  if (llvm::isa<math::TanhOp>(op)) return Function::kTanh;
  auto call = llvm::dyn_cast<tt::ExternElementwiseOp>(op);
  if (!call || !call.getPure() || call.getSrcs().size() != 1) return std::nullopt;
  std::optional<DeviceFunction> function = ReadDeviceFunction(call.getSymbol().str());
  if (!function || function->bits != 32) return std::nullopt;
  if (function->name == "erf") return Function::kErf;
  return function->name == "tanh" ? std::optional(Function::kTanh) : std::nullopt;
}

// A sum of one and the function, or a difference; all of it times a number.
struct Complement {
  Operation* sum;
  bool negates = false;        // one minus the function
  arith::MulFOp product = {};  // of the function and the factor, where there is one
  Value factor = {};
};

bool IsOne(Value value) {
  std::optional<llvm::APFloat> number = NumberOf(value);
  return number && number->isExactlyValue(1.0);
}

Value OtherOperand(mlir::OpOperand& use) { return use.getOwner()->getOperand(1 - use.getOperandNumber()); }

// Whether something is added to the operand, or it is subtracted from something.
bool IsSumOrDifference(mlir::OpOperand& use) {
  return llvm::isa<arith::AddFOp>(use.getOwner()) ||
         (llvm::isa<arith::SubFOp>(use.getOwner()) && use.getOperandNumber() == 1);
}

// `use`, of the function or of its product with a factor, as part of a complement.
std::optional<Complement> ComplementAt(mlir::OpOperand& use) {
  Operation* op = use.getOwner();
  if (auto product = llvm::dyn_cast<arith::MulFOp>(op)) {
    Value factor = OtherOperand(use);
    if (!product->hasOneUse() || !NumberOf(factor)) return std::nullopt;
    mlir::OpOperand& of_product = *product->getUses().begin();
    Operation* sum = of_product.getOwner();
    const bool is_whole = IsSumOrDifference(of_product) && OtherOperand(of_product) == factor;
    return is_whole ? std::optional(Complement{sum, llvm::isa<arith::SubFOp>(sum), product, factor}) : std::nullopt;
  }
  const bool is_whole = IsSumOrDifference(use) && IsOne(OtherOperand(use));
  return is_whole ? std::optional(Complement{op, llvm::isa<arith::SubFOp>(op)}) : std::nullopt;
}

// The complements that all uses of the function are; empty where there are others.
llvm::SmallVector<Complement> ComplementsOf(Value function) {
  llvm::SmallVector<Complement> complements;
  for (mlir::OpOperand& use : function.getUses()) {
    std::optional<Complement> complement = ComplementAt(use);
    if (!complement) return {};
    complements.push_back(*complement);
  }
  return complements;
}

class Emitter final {
 public:
  Emitter(Operation* at, mlir::Type type) : b_(at), loc_(at->getLoc()), type_(type) {}

  // 1 + f(x), or 1 - f(x).
  Value Emit(Function function, Value x, bool negates) {
    return function == Function::kErf ? OfErf(x, negates) : OfTanh(x, negates);
  }
  Value Times(Value value, Value factor) { return arith::MulFOp::create(b_, loc_, value, factor); }

 private:
  Value Number(float value) {
    mlir::TypedAttr number = b_.getF32FloatAttr(value);
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type_)) number = mlir::DenseElementsAttr::get(shaped, number);
    return arith::ConstantOp::create(b_, loc_, number);
  }

  Value OfTanh(Value x, bool negates) {
    Value exponent = Times(x, Number(negates ? kTwiceLog2E : -kTwiceLog2E));
    Value sum = arith::AddFOp::create(b_, loc_, math::Exp2Op::create(b_, loc_, exponent), Number(1));
    return arith::DivFOp::create(b_, loc_, Number(2), sum);
  }

  Value OfErf(Value x, bool negates) {
    // The sign is that of the argument before it is scaled, and |x| a modifier of the product.
    Value scale = PositiveScaleOf(x);
    if (scale) x = x.getDefiningOp<arith::MulFOp>().getLhs();
    Value size = math::AbsFOp::create(b_, loc_, x), q = Number(kLogComplement[0]);
    if (scale) size = Times(size, scale);
    for (float next : llvm::ArrayRef(kLogComplement).drop_front())
      q = math::FmaOp::create(b_, loc_, q, size, Number(next));
    Value small = math::Exp2Op::create(b_, loc_, Times(q, size));
    Value large = arith::SubFOp::create(b_, loc_, Number(2), small);
    const auto is_small = negates ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value chosen = arith::CmpFOp::create(b_, loc_, is_small, x, Number(0));
    return arith::SelectOp::create(b_, loc_, chosen, small, large);
  }

  // The constant factor of a product; null where it is none, or not positive.
  static Value PositiveScaleOf(Value x) {
    auto product = x.getDefiningOp<arith::MulFOp>();
    std::optional<llvm::APFloat> scale = product ? NumberOf(product.getRhs()) : std::nullopt;
    return scale && scale->isNormal() && !scale->isNegative() ? product.getRhs() : Value();
  }

  mlir::OpBuilder b_;
  mlir::Location loc_;
  mlir::Type type_;
};

class ComplementFunctionsPass : public impl::ComplementFunctionsPassBase<ComplementFunctionsPass> {
  void runOnOperation() override {
    llvm::SmallVector<std::pair<Operation*, Function>> functions;
    getOperation().walk([&](Operation* op) {
      if (op->getNumResults() != 1) return;
      if (std::optional<Function> function = FunctionOf(op)) functions.push_back({op, *function});
    });
    for (auto [op, function] : functions) {
      for (Complement complement : ComplementsOf(op->getResult(0))) {
        // A factor need not be there yet at the function.
        Operation* at = complement.product ? complement.product.getOperation() : op;
        Emitter emitter(at, op->getResult(0).getType());
        Value value = emitter.Emit(function, op->getOperand(0), complement.negates);
        if (complement.factor) value = emitter.Times(value, complement.factor);
        complement.sum->getResult(0).replaceAllUsesWith(value);
        complement.sum->erase();
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
