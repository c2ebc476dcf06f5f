// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/typical_steps.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

namespace arith = mlir::arith;

using Steps = llvm::SmallVector<Step, 4>;

// What a number that nothing is known of counts as: a size of a tensor, or a stride. Triton compiles another kernel for
// arguments that are 1. A multiple of up to 16 counts as so many times as much. Only of arguments whose type the kernel
// says it does not do that. Those of 64 bits are such, unless they are huge. So one that is no multiple may well be 1.
constexpr double kTypicalSize = 64;
constexpr int64_t kMostDivisibility = 16;
constexpr llvm::StringLiteral kDivisibilityAttr = "tt.divisibility";
constexpr Step kEqual{0, 0}, kAnywhere{0, 1};

int64_t RankOf(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

Step Sum(const Step& a, const Step& b, double sign) {
  return {a.size + sign * b.size, std::min(1.0, a.jumps + b.jumps)};
}

Step Times(const Step& step, double factor) { return {step.size * factor, step.jumps}; }

Step DividedBy(const Step& step, double divisor) {
  const double size = step.size / divisor;
  // Most neighbours have one quotient then.
  if (std::abs(size) < 1) return {0, std::min(1.0, step.jumps + std::abs(size))};
  return {size, step.jumps};
}

Step Remainder(const Step& step, double divisor) {
  const double share = std::abs(step.size / divisor);
  return share < 1 ? Step{step.size, std::min(1.0, step.jumps + share)} : kAnywhere;
}

class StepFinder final {
 public:
  explicit StepFinder(const AxisInfoAnalysis& axes) : axes_(axes) {}

  Steps Of(Value value) {
    if (RankOf(value) == 0) return {};
    if (auto found = known_.find(value); found != known_.end()) return found->second;
    known_.try_emplace(value, All(value, kAnywhere));  // while it is looked for, as in a loop
    Steps steps = Find(value);
    known_.insert_or_assign(value, steps);
    return steps;
  }

 private:
  static Steps All(Value value, Step step) { return Steps(RankOf(value), step); }

  Steps Find(Value value) {
    if (axes_.Get(value).constant || Number(value)) return All(value, kEqual);
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      // An iteration moves all elements alike, as a rule.
      auto loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
      return loop ? Of(loop.getTiedLoopInit(argument)->get()) : All(value, kAnywhere);
    }
    return llvm::TypeSwitch<Operation*, Steps>(value.getDefiningOp())
        .Case<tt::SplatOp>([&](auto) { return All(value, kEqual); })
        .Case<tt::MakeRangeOp>([](auto) {
          return Steps{{1, 0}};
        })
        .Case([&](tt::ExpandDimsOp op) {
          Steps steps = Of(op.getSrc());
          steps.insert(steps.begin() + op.getAxis(), kEqual);
          return steps;
        })
        .Case([&](tt::TransOp op) {
          Steps source = Of(op.getSrc()), steps;
          for (int32_t dim : op.getOrder()) steps.push_back(source[dim]);
          return steps;
        })
        .Case<tt::BroadcastOp, ttg::ConvertLayoutOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tt::BitcastOp,
              tt::IntToPtrOp, tt::PtrToIntOp>([&](Operation* op) { return Of(op->getOperand(0)); })
        .Case<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtFOp, arith::TruncFOp,
              mlir::math::FloorOp, mlir::math::CeilOp>([&](Operation* op) { return Of(op->getOperand(0)); })
        .Case<arith::AddIOp, arith::AddFOp, tt::AddPtrOp>([&](Operation* op) { return OfSum(op, 1); })
        .Case<arith::SubIOp, arith::SubFOp>([&](Operation* op) { return OfSum(op, -1); })
        .Case([&](arith::MulIOp op) { return OfProduct(op); })
        .Case([&](arith::MulFOp op) {
          // Canonical forms have constants on the right.
          std::optional<double> factor = Number(op.getRhs());
          return factor ? OfEach(op, Times, *factor) : All(value, kAnywhere);
        })
        .Case([&](arith::ShLIOp op) {
          std::optional<int64_t> bits = axes_.Get(op.getRhs()).constant;
          return bits ? OfEach(op, Times, std::exp2(*bits)) : All(value, kAnywhere);
        })
        .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto op) {
          std::optional<int64_t> bits = axes_.Get(op.getRhs()).constant;
          return bits ? OfEach(op, DividedBy, std::exp2(*bits)) : All(value, kAnywhere);
        })
        .Case<arith::DivSIOp, arith::DivUIOp>([&](auto op) { return OfEach(op, DividedBy, Size(op.getRhs())); })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](auto op) { return OfEach(op, Remainder, Size(op.getRhs())); })
        .Case([&](tt::LoadOp load) {
          // What neighbours load from one address, as the number of their page, is equal.
          Steps steps = Of(load.getPtr());
          for (Step& step : steps) step = step.size == 0 ? Step{0, step.jumps} : kAnywhere;
          return steps;
        })
        .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::MinNumFOp, arith::MaxNumFOp,
              arith::MinimumFOp, arith::MaximumFOp>(
            [&](Operation* op) { return OfOneThatVaries(op->getOperand(0), op->getOperand(1)); })
        .Case([&](arith::SelectOp op) { return OfOneThatVaries(op.getTrueValue(), op.getFalseValue()); })
        .Case([&](mlir::scf::IfOp branch) {
          const unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
          return OfOneThatVaries(branch.thenYield().getOperand(number), branch.elseYield().getOperand(number));
        })
        .Default([&](Operation*) { return All(value, kAnywhere); });
  }

  // The constant of floats that a value is.
  static std::optional<double> Number(Value value) {
    llvm::APFloat number(0.0);
    if (!mlir::matchPattern(value, mlir::m_ConstantFloat(&number))) return {};
    return number.convertToDouble();
  }

  // What a value that is the same along a dimension counts as.
  double Size(Value value) {
    if (std::optional<int64_t> constant = axes_.Get(value).constant) return static_cast<double>(*constant);
    int64_t divisibility = kMostDivisibility;
    for (const AxisDim& dim : axes_.Get(value).dims) divisibility = std::min(divisibility, dim.divisibility);
    return kTypicalSize * static_cast<double>(divisibility);
  }

  // What a factor counts as: a stride.
  double Stride(Value value) {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(SourceOf(value));
    auto function = argument ? llvm::dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
    if (!function || !argument.getOwner()->isEntryBlock()) return Size(value);
    const unsigned at = argument.getArgNumber();
    return MayBeOne(function, at) && !MayBeOne(function, at + 1) ? 1 : Size(value);
  }

  // Of the strides of a tensor, which follow each other, the last one is the smallest as a rule.
  static bool MayBeOne(tt::FuncOp function, unsigned at) {
    return at < function.getNumArguments() && function.getArgument(at).getType().isInteger(64) &&
           !function.getArgAttr(at, kDivisibilityAttr);
  }

  Steps OfSum(Operation* op, double sign) {
    Steps steps = Of(op->getOperand(0));
    for (auto [step, other] : llvm::zip_equal(steps, Of(op->getOperand(1)))) step = Sum(step, other, sign);
    return steps;
  }

  Steps OfProduct(arith::MulIOp op) {
    Steps steps = Of(op.getLhs());
    const double left = Stride(op.getLhs()), right = Stride(op.getRhs());
    for (auto [step, other] : llvm::zip_equal(steps, Of(op.getRhs())))
      step = other.IsEqual() ? Times(step, right) : step.IsEqual() ? Times(other, left) : kAnywhere;
    return steps;
  }

  // Of the first operand, where the second is the same along a dimension and counts as `size`.
  Steps OfEach(Operation* op, llvm::function_ref<Step(const Step&, double)> change, double size) {
    Steps steps = Of(op->getOperand(0));
    for (auto [step, other] : llvm::zip_equal(steps, Of(op->getOperand(1))))
      step = !other.IsEqual() || size == 0 ? kAnywhere : step.IsEqual() ? kEqual : change(step, size);
    return steps;
  }

  // One is a bound, or what stands in for what is left out.
  Steps OfOneThatVaries(Value one, Value other) {
    Steps steps = Of(one);
    for (auto [step, second] : llvm::zip_equal(steps, Of(other)))
      step = step.IsEqual()             ? second
             : second.IsEqual()         ? step
             : step.size == second.size ? Step{step.size, std::max(step.jumps, second.jumps)}
                                        : kAnywhere;
    return steps;
  }

  const AxisInfoAnalysis& axes_;
  llvm::DenseMap<Value, Steps> known_;
};

}  // namespace

double Step::Sectors(double bytes, double sector_bytes) const { return jumps + std::abs(size) * bytes / sector_bytes; }

llvm::SmallVector<Step, 4> TypicalSteps(mlir::Value tensor, const AxisInfoAnalysis& axes) {
  return StepFinder(axes).Of(tensor);
}

}  // namespace tritond::compiler
