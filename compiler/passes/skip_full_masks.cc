// SPDX-License-Identifier: Apache-2.0
// A loop over the blocks of a matrix often masks each block, though the mask cuts few of them. The causal mask cuts
// those on the diagonal, the bound of a length the last one. Where one comparison tells that a mask holds everywhere,
// the block is taken as it is:
//
//   %rows = %m + [0 … 127]                          %all = %m >= %n + 127                       // one for the block
//   %columns = %n + [0 … 127]                       %y = scf.if %all {
//   %mask = arith.cmpi sge, %rows, %columns    ->     scf.yield %x
//   %y = arith.select %mask, %x, %other             } else {
//                                                     %mask = arith.cmpi sge, %rows, %columns
//                                                     scf.yield (arith.select %mask, %x, %other)
//                                                   }
//
// Scores that are scaled before a mask selects from them are scaled where they are needed: %y is then %x as it is, or
// the selection and a scale of 1. Products and sums become one instruction.
//
// The mask is a conjunction of comparisons of integers. Each side is a sum of scalars, ranges and constants, so that
// its least and greatest element are known as scalars, here in 64 bits. They count only where they fit into the side's
// own type: there its sums have not wrapped around.
//
// Only in loops, for the branch pays where it is taken in most iterations:
// - A thread has many elements. The branch itself takes a dozen scalar instructions.
// - The two sides move apart so fast that few iterations have masks which hold in parts.
// - All dots after the selection need it. Another one would run beside what threads compute here, and instructions do
//   not move across branches.
// - A thread has the registers for all tensors of the block. At a branch they are all there at once, which they need
//   not be in a block without branches. Where dots are, their results are there at once anyway, and a thread stores
//   what is too much.
// - The selection is not summed under a mask of few elements. The sum of what one condition selects from zeros is
//   selected as a whole, and products that go to the sum are added by multiply-adds.
// - The selection is not of booleans. Devices have few registers for these, so a branch would pack all into words. A
//   comparison takes a mask with it for nothing.
#include "compiler/dots/loop_registers.h"
#include "compiler/dots/score_scale.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SKIPFULLMASKSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;
using Predicate = arith::CmpIPredicate;

// Elements of a thread, from which on a branch pays.
constexpr int kLeastRegisters = 16;
// Iterations whose masks hold in parts, at most: of a loop over blocks there are many more.
constexpr int kMostPartial = 8;
// Of constants and of what a sum has: 64 bits then hold all bounds.
constexpr int64_t kMostConstant = int64_t{1} << 31;
constexpr int kMostTerms = 16;
// Elements of one condition, from which on they are summed before they are selected.
constexpr int kLeastGroup = 4;

// The least and greatest element of a tensor, in its own arithmetic if it did not wrap: scalars (i64) besides a
// constant.
struct Bounds {
  llvm::SmallVector<Value> terms;  // integers of at most 32 bits, added to both
  int64_t low = 0, high = 0;
  bool may_wrap = false;
};

std::optional<Bounds> BoundsOf(Value value);

// Views of a tensor change its shape or its encoding alone.
Value SourceOfView(Operation* op) {
  const bool is_view = llvm::isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp, ttg::ConvertLayoutOp>(op);
  return is_view ? op->getOperand(0) : Value();
}

std::optional<Bounds> BoundsOfConstant(arith::ConstantOp op) {
  mlir::DenseIntElementsAttr elements;
  if (!mlir::matchPattern(op.getResult(), mlir::m_Constant(&elements)) || !elements.isSplat()) return std::nullopt;
  const int64_t value = elements.getSplatValue<llvm::APInt>().getSExtValue();
  if (std::abs(value) >= kMostConstant) return std::nullopt;
  return Bounds{{}, value, value};
}

std::optional<Bounds> Sum(arith::AddIOp op) {
  std::optional<Bounds> a = BoundsOf(op.getLhs()), b = a ? BoundsOf(op.getRhs()) : std::nullopt;
  if (!b || a->terms.size() + b->terms.size() > kMostTerms) return std::nullopt;
  a->terms.append(b->terms);
  a->low += b->low;
  a->high += b->high;
  a->may_wrap = true;
  return a;
}

std::optional<Bounds> BoundsOf(Value value) {
  Operation* op = value.getDefiningOp();
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!op || !type || !type.getElementType().isInteger(32)) return std::nullopt;
  if (Value source = SourceOfView(op)) return BoundsOf(source);
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op))
    return Bounds{{}, range.getStart(), int64_t{range.getEnd()} - 1};
  if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return Bounds{{splat.getSrc()}, 0, 0};
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) return BoundsOfConstant(constant);
  auto add = llvm::dyn_cast<arith::AddIOp>(op);
  return add ? Sum(add) : std::nullopt;
}

// By how much `value` grows in each iteration of `loop`; nullopt where that is not known.
std::optional<int64_t> StrideOf(Value value, ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value)) return 0;
  auto constant = [](Value x) { return mlir::getConstantIntValue(x); };
  if (value == loop.getInductionVar()) return constant(loop.getStep());
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody()) return std::nullopt;
    auto next = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp<arith::AddIOp>();
    return next && next.getLhs() == value ? constant(next.getRhs()) : std::nullopt;
  }
  Operation* op = value.getDefiningOp();
  if (!llvm::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) return std::nullopt;
  std::optional<int64_t> a = StrideOf(op->getOperand(0), loop);
  if (llvm::isa<arith::MulIOp>(op)) {
    std::optional<int64_t> factor = constant(op->getOperand(1));
    return a && factor ? std::optional(*a * *factor) : std::nullopt;
  }
  std::optional<int64_t> b = a ? StrideOf(op->getOperand(1), loop) : std::nullopt;
  if (!b) return std::nullopt;
  return llvm::isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
}

std::optional<int64_t> StrideOf(const Bounds& bounds, ForOp loop) {
  int64_t stride = 0;
  for (Value term : bounds.terms) {
    std::optional<int64_t> own = StrideOf(term, loop);
    if (!own) return std::nullopt;
    stride += *own;
  }
  return stride;
}

// Whether few iterations compare numbers of which some are less than others and some are not.
bool IsMostlyUniform(const Bounds& a, const Bounds& b, ForOp loop) {
  std::optional<int64_t> x = StrideOf(a, loop), y = StrideOf(b, loop);
  if (!x || !y) return false;
  const int64_t stride = std::abs(*x - *y), extent = a.high - a.low + b.high - b.low;
  return stride == 0 || extent <= kMostPartial * stride;
}

class ScalarTest final {
 public:
  ScalarTest(Operation* before, ForOp loop) : loop_(loop), b_(before), loc_(before->getLoc()) {}

  // i1: whether all elements of `mask` are true, or null where that is not known by few scalars. False says nothing.
  Value AllTrue(Value mask) {
    if (Operation* op = mask.getDefiningOp(); op && SourceOfView(op)) return AllTrue(SourceOfView(op));
    if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
      Value a = AllTrue(both.getLhs()), b = a ? AllTrue(both.getRhs()) : Value();
      return b ? b_.createOrFold<arith::AndIOp>(loc_, a, b) : Value();
    }
    auto compare = mask.getDefiningOp<arith::CmpIOp>();
    return compare ? AllTrue(compare) : Value();
  }

 private:
  Value AllTrue(arith::CmpIOp compare) {
    std::optional<Bounds> a = BoundsOf(compare.getLhs()), b = a ? BoundsOf(compare.getRhs()) : std::nullopt;
    if (!b || !IsMostlyUniform(*a, *b, loop_)) return {};
    const Predicate predicate = compare.getPredicate();
    const bool is_less = predicate == Predicate::slt || predicate == Predicate::sle;
    if (!is_less && predicate != Predicate::sgt && predicate != Predicate::sge) return {};
    Value x = is_less ? At(*a, a->high) : At(*a, a->low), y = is_less ? At(*b, b->low) : At(*b, b->high);
    Value all = b_.createOrFold<arith::CmpIOp>(loc_, predicate, x, y);
    for (const Bounds& side : {*a, *b})
      if (side.may_wrap) all = b_.createOrFold<arith::AndIOp>(loc_, all, Fits(side));
    return all;
  }

  // Whether the bounds are numbers of 32 bits.
  Value Fits(const Bounds& bounds) {
    Value low = b_.createOrFold<arith::CmpIOp>(loc_, Predicate::sge, At(bounds, bounds.low),
                                               Constant(std::numeric_limits<int32_t>::min()));
    Value high = b_.createOrFold<arith::CmpIOp>(loc_, Predicate::sle, At(bounds, bounds.high),
                                                Constant(std::numeric_limits<int32_t>::max()));
    return b_.createOrFold<arith::AndIOp>(loc_, low, high);
  }

  Value At(const Bounds& bounds, int64_t constant) {
    Value sum = Constant(constant);
    for (Value term : bounds.terms)
      sum = b_.createOrFold<arith::AddIOp>(loc_, b_.createOrFold<arith::ExtSIOp>(loc_, b_.getI64Type(), term), sum);
    return sum;
  }

  Value Constant(int64_t value) { return arith::ConstantIntOp::create(b_, loc_, value, 64); }

  ForOp loop_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
};

// Copies what `mask` is made of, down to what the comparisons compare.
Value CloneMask(mlir::OpBuilder& b, Value mask, mlir::IRMapping& mapping) {
  Operation* op = mask.getDefiningOp();
  const bool is_inner = SourceOfView(op) || llvm::isa<arith::AndIOp>(op);
  if (is_inner)
    for (Value operand : op->getOperands()) mapping.map(operand, CloneMask(b, operand, mapping));
  return b.clone(*op, mapping)->getResult(0);
}

bool IsOnlySelection(Value mask) {
  return llvm::all_of(mask.getUses(), [](mlir::OpOperand& use) {
    return llvm::isa<arith::SelectOp>(use.getOwner()) && use.getOperandNumber() == 0;
  });
}

// A target's own dots read buffers and yield tensors.
bool IsDot(Operation* op) {
  auto is_buffer = [](mlir::Type type) { return llvm::isa<ttg::MemDescType>(type); };
  auto is_tensor = [](mlir::Type type) { return llvm::isa<RankedTensorType>(type); };
  return llvm::isa<tt::DotOpInterface>(op) ||
         (!llvm::isa<ttg::LocalLoadOp>(op) && llvm::any_of(op->getOperandTypes(), is_buffer) &&
          llvm::any_of(op->getResultTypes(), is_tensor));
}

bool IsNeededByLaterDots(arith::SelectOp select) {
  mlir::ForwardSliceOptions options;
  options.filter = [&](Operation* op) { return select->getBlock()->findAncestorOpInBlock(*op) != nullptr; };
  llvm::SetVector<Operation*> users;
  mlir::getForwardSlice(select.getResult(), &users, options);
  for (Operation* op = select->getNextNode(); op; op = op->getNextNode())
    if (IsDot(op) && !users.contains(op)) return false;
  return true;
}

// The elements that a thread has of what `mask` is made of, before they are spread.
int64_t OwnElements(Value mask) {
  auto type = llvm::dyn_cast<RankedTensorType>(mask.getType());
  Operation* op = mask.getDefiningOp();
  if (!type || (op && llvm::isa<tt::SplatOp, arith::ConstantOp>(op))) return 1;
  int64_t elements = ttg::ToLinearLayout(type).RemoveZeroBases("register").InSize("register");
  if (op && (SourceOfView(op) || llvm::isa<arith::AndIOp, arith::CmpIOp>(op))) {
    int64_t of_operands = 1;
    for (Value operand : op->getOperands()) of_operands = std::max(of_operands, OwnElements(operand));
    elements = std::min(elements, of_operands);
  }
  return elements;
}

bool FeedsSumsAlone(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation* user) {
    if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(user))
      return llvm::isa_and_present<arith::AddFOp>(reduce.SingleCombiner());
    const bool is_view = SourceOfView(user) || llvm::isa<tt::ReshapeOp>(user);
    return is_view && FeedsSumsAlone(user->getResult(0));
  });
}

bool IsSummedByGroups(arith::SelectOp select) {
  const bool is_zero = mlir::matchPattern(select.getFalseValue(), mlir::m_AnyZeroFloat());
  return is_zero && FeedsSumsAlone(select.getResult()) &&
         OwnElements(select.getCondition()) * kLeastGroup <= OwnElements(select.getResult());
}

// Nothing else computes the mask anyway.
bool IsSelectionOfBlock(arith::SelectOp select) {
  auto type = llvm::dyn_cast<RankedTensorType>(select.getType());
  if (!type || !llvm::isa<RankedTensorType>(select.getCondition().getType())) return false;
  if (type.getElementType().isInteger(1)) return false;
  return llvm::isa<ForOp>(select->getParentOp()) && IsOnlySelection(select.getCondition()) &&
         ttg::ToLinearLayout(type).InSize("register") >= kLeastRegisters && IsNeededByLaterDots(select) &&
         !IsSummedByGroups(select);
}

// The scores that `select` takes a product of, where their maxima and sums alone are needed.
std::optional<ScaledScores> ScoresOf(arith::SelectOp select) {
  std::optional<ScaledScores> scaled = ScaledScores::Of(select.getTrueValue());
  if (!scaled || !scaled->IsNeverNegative()) return std::nullopt;
  auto maxima = MaximaOf(select);
  return maxima && !maxima->empty() ? scaled : std::nullopt;
}

// Scales what needs the scores, instead of all scores.
void ScaleUses(Value scores, Value scale) {
  mlir::OpBuilder b(scores.getContext());
  for (mlir::OpOperand& use : llvm::make_early_inc_range(scores.getUses())) {
    if (auto maximum = llvm::dyn_cast<tt::ReduceOp>(use.getOwner())) {
      ScaleMaximum(maximum, scale);
    } else {
      b.setInsertionPoint(use.getOwner());
      use.set(Scale(b, scores.getLoc(), scores, scale));
    }
  }
}

void Skip(arith::SelectOp select) {
  Value all = ScalarTest(select, llvm::cast<ForOp>(select->getParentOp())).AllTrue(select.getCondition());
  if (!all || mlir::matchPattern(all, mlir::m_Zero())) return;
  mlir::OpBuilder b(select);
  std::optional<ScaledScores> scaled = ScoresOf(select);
  llvm::SmallVector<Value> full{scaled ? scaled->scores : select.getTrueValue()}, partial;
  if (scaled) full.push_back(scaled->Scalar(b));
  auto branch = mlir::scf::IfOp::create(b, select.getLoc(), mlir::ValueRange(full).getTypes(), all,
                                        /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  mlir::scf::YieldOp::create(b, select.getLoc(), full);
  b.setInsertionPointToStart(branch.elseBlock());
  mlir::IRMapping mapping;
  Value mask = CloneMask(b, select.getCondition(), mapping), product = select.getTrueValue();
  if (scaled) product = b.clone(*scaled->product)->getResult(0);
  partial.push_back(arith::SelectOp::create(b, select.getLoc(), mask, product, select.getFalseValue()));
  if (scaled) {
    auto type = llvm::cast<mlir::FloatType>(full[1].getType());
    partial.push_back(arith::ConstantOp::create(b, select.getLoc(), b.getFloatAttr(type, 1.0)));
  }
  mlir::scf::YieldOp::create(b, select.getLoc(), partial);
  select.replaceAllUsesWith(branch.getResult(0));
  select.erase();
  if (scaled) ScaleUses(branch.getResult(0), branch.getResult(1));
}

struct SkipFullMasksPass final : impl::SkipFullMasksPassBase<SkipFullMasksPass> {
  using SkipFullMasksPassBase::SkipFullMasksPassBase;

  void runOnOperation() override {
    llvm::SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp select) {
      if (IsSelectionOfBlock(select) && HasRegisters(select)) selects.push_back(select);
    });
    for (arith::SelectOp select : selects) Skip(select);
  }

 private:
  bool HasRegisters(Operation* op) const {
    if (registers == 0) return true;
    const int64_t threads = int64_t{ttg::NumWarps(op)} * ttg::ThreadsPerWarp(op);
    const int64_t of_thread = registers / threads;
    mlir::Block& block = *op->getBlock();
    const bool has_dots = llvm::any_of(block, [](Operation& other) { return IsDot(&other); });
    return PeakRegisters(block) <= (has_dots ? of_thread : std::min<int64_t>(of_thread, most_registers));
  }
};

}  // namespace
}  // namespace tritond::compiler
