// SPDX-License-Identifier: Apache-2.0
// A loop over a row of any length masks the columns beyond its end. Only in the last iteration does that mask cut:
//
//   scf.for %i = 0 to %n step 256 {                 %full = … (the first multiple of 256 above %n - 256)
//     %columns = %i + [0 … 255]                     scf.for %i = 0 to %full step 256 {
//     %mask = %columns < %n                           … tt.load (%row + %columns) …
//     … tt.load (%row + %columns), %mask …    ->    }
//   }                                               scf.if %full < %n {
//                                                     … tt.load (%row + %columns), %mask … (with %i = %full)
//                                                   }
//
// A mask costs threads an instruction for each element that is selected. An access under one mask, of one element or of
// neighbours, takes a comparison, an address of its own and what stands for masked elements. Loops of known length have
// been split (fold_full_masks.cc). A loop of dots is split where the mask leaves accesses narrow: no copy
// runs beside dots then. The mask may be that of a load whose result tells where others read, as of a page.
//
// An index is the sum of a range, constants, and the loop's counter, which may be multiplied where it starts from no
// negative number. In the first iterations the sum is less than the bound, and does not wrap around.
#include "compiler/analysis/axis_info.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/contains.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/thread_parts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SPLITFULLTILESPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// The share of masks in a loop's instructions from which on it is split; where threads also wait for each other.
constexpr double kLeastShare = 0.025, kLeastShareMeeting = 0.125;
// Instructions for masks from which on a loop without floats is split.
constexpr double kLeastCost = 12;
// Values of a thread in the body up to which it is split, and instructions for the mask of an access.
constexpr int64_t kMostValues = 2048, kMostValuesOfDots = 16384, kAccessCost = 3;
// Bytes from which on an access is no longer narrow: those of the least copy.
constexpr int kWideBytes = 4;

// counter * scale + something between 0 and `most`.
struct Index {
  int64_t scale = 0, most = 0;
};

std::optional<Index> IndexOf(Value value, ForOp loop) {
  if (value == loop.getInductionVar()) return Index{1, 0};
  if (std::optional<int64_t> number = mlir::getConstantIntValue(value)) {
    if (*number >= 0) return Index{0, *number};
    return {};
  }
  llvm::APInt splat;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&splat))) {
    if (splat.isNonNegative() && splat.getSignificantBits() <= 32) return Index{0, splat.getSExtValue()};
    return {};
  }
  Operation* op = value.getDefiningOp();
  if (!op) return {};
  if (Spreads(op) || llvm::isa<arith::ExtSIOp>(op)) return IndexOf(op->getOperand(0), loop);
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op)) return Index{0, int64_t{range.getEnd()} - 1};
  if (!llvm::isa<arith::AddIOp, arith::MulIOp>(op)) return {};
  std::optional<Index> left = IndexOf(op->getOperand(0), loop), right = IndexOf(op->getOperand(1), loop);
  if (!left || !right) return {};
  if (llvm::isa<arith::AddIOp>(op)) return Index{left->scale + right->scale, left->most + right->most};
  // The counter times a constant.
  std::optional<int64_t> factor = mlir::getConstantIntValue(op->getOperand(1));
  if (!factor || *factor < 1 || *factor > INT32_MAX || left->scale != 1 || left->most != 0) return {};
  return Index{*factor, 0};
}

// A comparison that holds everywhere while counter * scale + most < bound.
struct Bounded {
  arith::CmpIOp compare;
  Index index;
  Value bound;
};

Value ScalarOf(Value value, ForOp loop) {
  value = SourceOf(value);
  return value.getType().isSignlessInteger() && loop.isDefinedOutsideOfLoop(value) ? value : Value();
}

std::optional<Bounded> BoundedBy(arith::CmpIOp compare, ForOp loop) {
  using Predicate = arith::CmpIPredicate;
  if (!llvm::isa<RankedTensorType>(compare.getType())) return {};
  const bool swapped = compare.getPredicate() == Predicate::sgt;
  if (!swapped && compare.getPredicate() != Predicate::slt) return {};
  Value index = swapped ? compare.getRhs() : compare.getLhs(), bound = swapped ? compare.getLhs() : compare.getRhs();
  Value scalar = ScalarOf(bound, loop);
  std::optional<Index> sum = scalar ? IndexOf(index, loop) : std::nullopt;
  if (!sum || sum->scale < 1) return {};
  return Bounded{compare, *sum, scalar};
}

int ElementsOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding() ? ttg::ToLinearLayout(tensor).InSize("register") : 1;
}

// The instructions that this use of a mask takes.
int64_t CostOf(mlir::OpOperand& use, const AxisInfoAnalysis& axes) {
  Operation* user = use.getOwner();
  if (Spreads(user) || llvm::isa<arith::AndIOp>(user)) {
    int64_t cost = 0;
    for (mlir::OpOperand& next : user->getResult(0).getUses()) cost = std::max(cost, CostOf(next, axes));
    return cost;
  }
  if (llvm::isa<arith::SelectOp>(user))
    return use.getOperandNumber() == 0 ? ElementsOf(user->getResult(0).getType()) : 0;
  if (!llvm::isa<tt::LoadOp, tt::StoreOp>(user)) return 0;
  Value address = user->getOperand(0);
  auto type = llvm::dyn_cast<RankedTensorType>(address.getType());
  if (!type || !type.getEncoding()) return 0;
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const auto names = ttg::DimNames(type.getRank());
  int wide = 1, same = 1;
  for (int dim = 0; dim < type.getRank(); ++dim) {
    const int run = std::min(layout.NumConsecutive("register", names[dim]), axes.PointerContiguity(address, dim));
    if (run > wide) wide = run, same = axes.MaskConstancy(use.get(), dim);
  }
  return ElementsOf(type) / std::min(wide, same) * kAccessCost;
}

struct Size {
  bool is_innermost = true, has_dots = false, has_loads = false, meets = false;
  int64_t values = 0;
  double instructions = 0;  // for floats; the rest is about as much in all loops
};

Size SizeOf(ForOp loop) {
  Size size;
  loop.getBody()->walk([&](Operation* op) {
    for (mlir::Type type : op->getResultTypes()) size.values += ElementsOf(type);
    size.is_innermost &= !llvm::isa<mlir::LoopLikeOpInterface, tt::CallOp>(op);
    size.has_dots |= llvm::isa<tt::DotOpInterface>(op);
    size.has_loads |= llvm::isa<tt::LoadOp>(op);
    if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(op)) {
      auto groups = AxisGroups(reduce.InputType(), reduce.getAxis());
      size.meets |= !groups || CrossesThreads(*groups);
    }
    if (op->getNumResults() == 1 && llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(op->getResult(0))))
      size.instructions += CostModel::ElementCost(op).value_or(0) * ElementsOf(op->getResult(0).getType());
  });
  return size;
}

// Whether the loop takes longer for its masks. One that only stores waits for memory. A loop in another one often has
// few iterations to one last tile, whose code is new each time.
bool IsSlowed(ForOp loop, const Size& size, double cost) {
  if (size.has_dots || !size.has_loads || cost == 0 || loop->getParentOfType<mlir::LoopLikeOpInterface>()) return false;
  if (size.instructions == 0) return cost >= kLeastCost;
  return cost >= (size.meets ? kLeastShareMeeting : kLeastShare) * size.instructions;
}

// Whether the mask is one of the comparisons, or several at once.
bool IsMadeOf(Value mask, llvm::ArrayRef<Bounded> bounded) {
  Operation* op = mask.getDefiningOp();
  if (!op) return false;
  if (Spreads(op) || llvm::isa<arith::AndIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return IsMadeOf(operand, bounded); });
  return llvm::any_of(bounded, [&](Bounded other) { return other.compare == op; });
}

// The two states of knowledge: with masks, and about what loads do not leave out.
struct Axes {
  explicit Axes(mlir::ModuleOp module) : kept(module), inside(module, AxisInfoAnalysis::LoadMasks::kIgnored) {}
  AxisInfoAnalysis kept, inside;
};

// Whether a narrow load of the loop is wide in the first iterations.
bool Widens(ForOp loop, llvm::ArrayRef<Bounded> bounded, const Axes& axes) {
  auto result = loop.getBody()->walk([&](tt::LoadOp load) {
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    if (!type || !type.getEncoding() || !type.getElementType().isIntOrFloat()) return mlir::WalkResult::advance();
    const LinearLayout layout = ttg::ToLinearLayout(type);
    const auto names = ttg::DimNames(type.getRank());
    const bool is_full = !load.getMask() || IsMadeOf(load.getMask(), bounded);
    int before = 1, after = 1;
    for (int dim = 0; dim < type.getRank(); ++dim) {
      const int run = layout.NumConsecutive("register", names[dim]);
      const int same = load.getMask() ? axes.kept.MaskConstancy(load.getMask(), dim) : run;
      before = std::max(before, std::min({run, same, axes.kept.PointerContiguity(load.getPtr(), dim)}));
      after = std::max(after, std::min({run, is_full ? run : same, axes.inside.PointerContiguity(load.getPtr(), dim)}));
    }
    const int bytes = static_cast<int>(type.getElementTypeBitWidth()) / 8;
    return before * bytes < kWideBytes && after * bytes >= kWideBytes ? mlir::WalkResult::interrupt()
                                                                      : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

// The comparisons by which to split the loop; none: it stays.
llvm::SmallVector<Bounded> FindBounded(ForOp loop, const Axes& axes) {
  const Size size = SizeOf(loop);
  if (!size.is_innermost || size.values > (size.has_dots ? kMostValuesOfDots : kMostValues)) return {};
  const std::optional<int64_t> begin = mlir::getConstantIntValue(loop.getLowerBound());
  llvm::SmallVector<Bounded> found;
  double cost = 0;
  loop.getBody()->walk([&](arith::CmpIOp compare) {
    std::optional<Bounded> bounded = BoundedBy(compare, loop);
    if (!bounded || (bounded->index.scale > 1 && !(begin && *begin >= 0))) return;
    for (mlir::OpOperand& use : compare->getUses()) cost += CostOf(use, axes.kept);
    found.push_back(*bounded);
  });
  if (IsSlowed(loop, size, cost)) return found;
  return !found.empty() && Widens(loop, found, axes) ? found : llvm::SmallVector<Bounded>();
}

class Splitter {
 public:
  Splitter(ForOp loop, llvm::SmallVector<Bounded> bounded)
      : loop_(loop), bounded_(std::move(bounded)), b_(loop), loc_(loop.getLoc()) {}

  void Run() {
    Value end = FullEnd();
    auto rest = llvm::cast<ForOp>(b_.clone(*loop_));
    rest->moveAfter(loop_);
    loop_.replaceAllUsesWith(rest.getResults());
    rest.setLowerBound(end);
    rest.getInitArgsMutable().assign(loop_.getResults());
    const bool once = RestIsOnce();
    loop_.setUpperBound(end);
    for (Bounded& bounded : bounded_) {
      b_.setInsertionPoint(bounded.compare);
      auto type = llvm::cast<RankedTensorType>(bounded.compare.getType());
      auto all = arith::ConstantOp::create(b_, loc_, mlir::DenseElementsAttr::get(type, true));
      bounded.compare.replaceAllUsesWith(all.getResult());
    }
    if (once) MakeBranch(rest);
  }

 private:
  Value Number(int64_t number) { return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(number)); }
  Value Wide(Value value) {
    return value.getType() == b_.getI64Type() ? value : arith::ExtSIOp::create(b_, loc_, b_.getI64Type(), value);
  }

  // The counter of the first iteration in which a mask may cut.
  Value FullEnd() {
    Value begin = Wide(loop_.getLowerBound()), end = Wide(loop_.getUpperBound());
    for (const Bounded& bounded : bounded_) {
      Value most = arith::SubIOp::create(b_, loc_, Wide(bounded.bound), Number(bounded.index.most));
      if (bounded.index.scale > 1) {
        // Numbers below 0 give none or one, which are not above the first counter either.
        most = arith::MaxSIOp::create(b_, loc_, most, Number(0));
        most = arith::AddIOp::create(b_, loc_, most, Number(bounded.index.scale - 1));
        most = arith::DivUIOp::create(b_, loc_, most, Number(bounded.index.scale));
      }
      end = arith::MinSIOp::create(b_, loc_, end, most);
    }
    const int64_t step = *mlir::getConstantIntValue(loop_.getStep());
    Value length = arith::MaxSIOp::create(b_, loc_, arith::SubIOp::create(b_, loc_, end, begin), Number(0));
    length = arith::AddIOp::create(b_, loc_, length, Number(step - 1));
    length = arith::MulIOp::create(b_, loc_, arith::DivUIOp::create(b_, loc_, length, Number(step)), Number(step));
    Value full = arith::AddIOp::create(b_, loc_, begin, length);
    mlir::Type type = loop_.getInductionVar().getType();
    return type == b_.getI64Type() ? full : arith::TruncIOp::create(b_, loc_, type, full);
  }

  // Whether at most one iteration is left: the loop ends at the bound or before it, and a step reaches beyond it.
  bool RestIsOnce() {
    const int64_t step = *mlir::getConstantIntValue(loop_.getStep());
    Value end = loop_.getUpperBound();
    auto least = end.getDefiningOp<arith::MinSIOp>();
    return llvm::all_of(bounded_, [&](const Bounded& bounded) {
      const bool ends = bounded.bound == end || (least && llvm::is_contained(least->getOperands(), bounded.bound));
      return ends && bounded.index.scale == 1 && bounded.index.most < step;
    });
  }

  void MakeBranch(ForOp rest) {
    b_.setInsertionPoint(rest);
    Value is_left =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, rest.getLowerBound(), rest.getUpperBound());
    auto branch = mlir::scf::IfOp::create(b_, loc_, rest.getResultTypes(), is_left, /*addThenBlock=*/true,
                                          /*addElseBlock=*/rest.getNumResults() > 0);
    mlir::IRMapping mapping;
    mapping.map(rest.getInductionVar(), rest.getLowerBound());
    for (auto [argument, start] : llvm::zip(rest.getRegionIterArgs(), rest.getInitArgs())) mapping.map(argument, start);
    b_.setInsertionPointToStart(branch.thenBlock());
    for (Operation& op : *rest.getBody()) b_.clone(op, mapping);
    if (rest.getNumResults() > 0) {
      b_.setInsertionPointToStart(branch.elseBlock());
      mlir::scf::YieldOp::create(b_, loc_, rest.getInitArgs());
    } else {
      branch.thenBlock()->back().erase();
      b_.setInsertionPointToEnd(branch.thenBlock());
      mlir::scf::YieldOp::create(b_, loc_);
    }
    rest.replaceAllUsesWith(branch.getResults());
    rest.erase();
  }

  ForOp loop_;
  llvm::SmallVector<Bounded> bounded_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
};

class SplitFullTilesPass : public impl::SplitFullTilesPassBase<SplitFullTilesPass> {
  void runOnOperation() override {
    llvm::SmallVector<std::pair<ForOp, llvm::SmallVector<Bounded>>> splits;
    std::optional<Axes> axes;
    getOperation().walk([&](ForOp loop) {
      const std::optional<int64_t> step = mlir::getConstantIntValue(loop.getStep());
      // What the author asked for is asked for of one loop.
      if (!step || *step < 1 || !loop->getDiscardableAttrs().empty()) return;
      if (loop.getUnsignedCmp() || mlir::getConstantIntValue(loop.getUpperBound()) || !Contains<arith::CmpIOp>(loop))
        return;
      if (!axes) axes.emplace(getOperation());
      if (auto bounded = FindBounded(loop, *axes); !bounded.empty()) splits.emplace_back(loop, std::move(bounded));
    });
    for (auto& [loop, bounded] : splits) Splitter(loop, std::move(bounded)).Run();
  }
};

}  // namespace
}  // namespace tritond::compiler
