// SPDX-License-Identifier: Apache-2.0
// A loop over blocks of a matrix often adds where a block starts to each element's index, and multiplies the sum by a
// stride. Where the start changes in the loop and the indices do not, the start goes to the base, as a scalar:
//
//   scf.for … iter_args(%start = …) {                     %rest = %indices * splat %stride
//     %i = splat %start + %indices                  ->    scf.for … iter_args(%start = …) {
//     %p = tt.addptr (splat %base), %i * splat %stride      %b = tt.addptr %base, %start * %stride
//   }                                                       %p = tt.addptr (splat %b), %rest
//                                                         }
//
// That is how Triton's frontend spells block pointers. An iteration then has one product for all threads and a sum for
// each address, in place of a product of 64 bits for each row. Where there is no product, as along neighbours in
// memory, nothing would be saved.
//
// Offsets are of 64 bits, as pointers are: in them sums and products are the same in any order.
//
// Masks compare the same indices with a bound. Where no sum of 64 bits can wrap around, the indices are compared in 32
// bits with a scalar, which says how many of them are in front of the bound:
//
//   %m = arith.cmpi slt, %i, splat %bound    ->    %n = min(max(%bound - %start, 0), 64)
//                                                  %m = arith.cmpi slt, %indices, splat (trunci %n)
#include "compiler/analysis/element_ranges.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SEPARATESCALARSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;
using Predicate = arith::CmpIPredicate;

// Magnitudes of 64-bit scalars up to here are far from wrapping around in the few sums of this pass.
constexpr unsigned kModerateBits = 60, kAnyBits = 64;
constexpr unsigned kMostIterationsBits = 32;  // of a loop that counts in 32 bits

// A tensor as the sum of a scalar, spread over it, and the rest; null: no such part.
struct Sum {
  Value scalar, rest;
};

// Tells scalars that change in a loop from rests that do not.
class OffsetSplitter final {
 public:
  OffsetSplitter(mlir::OpBuilder& b, ForOp loop) : b_(b), loop_(loop) {}

  // Nothing where no scalar that changes in the loop can be told from a rest that does not.
  std::optional<Sum> Split(Value offset) {
    Sum sum = SumOf(offset);
    if (!sum.scalar || !sum.rest || loop_.isDefinedOutsideOfLoop(sum.scalar) || !IsInvariant(sum.rest))
      return std::nullopt;
    return sum;
  }

  // Whether a product was taken apart.
  bool HasProduct() const { return has_product_; }

  bool IsInvariant(Value value) {
    if (loop_.isDefinedOutsideOfLoop(value)) return true;
    Operation* op = value.getDefiningOp();
    return op && mlir::isPure(op) && op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return IsInvariant(operand); });
  }

  // The scalar that all elements are; null if none is known.
  static Value ScalarOf(Value tensor) {
    while (auto op = tensor.getDefiningOp()) {
      if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return splat.getSrc();
      if (!llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp>(op)) break;
      tensor = op->getOperand(0);
    }
    return {};
  }

 private:
  Value Add(mlir::Location loc, Value l, Value r) {
    if (!l || !r) return l ? l : r;
    return arith::AddIOp::create(b_, loc, l, r);
  }

  Sum SumOf(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op || loop_.isDefinedOutsideOfLoop(value)) return {Value(), value};
    b_.setInsertionPoint(op);
    mlir::Location loc = op->getLoc();
    if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return {splat.getSrc(), Value()};
    if (llvm::isa<arith::AddIOp>(op)) {
      Sum l = SumOf(op->getOperand(0)), r = SumOf(op->getOperand(1));
      b_.setInsertionPoint(op);
      return {Add(loc, l.scalar, r.scalar), Add(loc, l.rest, r.rest)};
    }
    if (llvm::isa<arith::MulIOp>(op)) {
      for (unsigned factor : {0, 1})
        if (Value scalar = ScalarOf(op->getOperand(factor))) return Product(op, factor, scalar);
    } else if (llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp>(op)) {
      Sum sum = SumOf(op->getOperand(0));
      if (!sum.scalar || !sum.rest) return sum.scalar ? sum : Sum{Value(), value};
      b_.setInsertionPoint(op);
      return {sum.scalar, OfShape(op, sum.rest)};
    }
    return {Value(), value};
  }

  // Of a product whose operand `factor` is `scalar` everywhere.
  Sum Product(Operation* op, unsigned factor, Value scalar) {
    Sum sum = SumOf(op->getOperand(1 - factor));
    if (!sum.scalar) return {Value(), op->getResult(0)};
    has_product_ = true;
    b_.setInsertionPoint(op);
    mlir::Location loc = op->getLoc();
    Value rest = sum.rest ? arith::MulIOp::create(b_, loc, sum.rest, op->getOperand(factor)).getResult() : Value();
    return {arith::MulIOp::create(b_, loc, sum.scalar, scalar), rest};
  }

  // `op`, which changes the shape alone, of another tensor.
  Value OfShape(Operation* op, Value tensor) {
    Operation* clone = b_.clone(*op);
    clone->setOperand(0, tensor);
    return clone->getResult(0);
  }

  mlir::OpBuilder& b_;
  ForOp loop_;
  bool has_product_ = false;
};

// What a loop that counts in 32 bits adds to a value in each iteration; nothing if that is no constant.
struct Induction {
  Value init;
  int64_t step;
};
std::optional<Induction> InductionOf(Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  auto loop = argument ? llvm::dyn_cast<ForOp>(argument.getOwner()->getParentOp()) : ForOp();
  if (!loop || argument == loop.getInductionVar() || !loop.getInductionVar().getType().isInteger(32))
    return std::nullopt;
  auto add = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp<arith::AddIOp>();
  llvm::APInt step;
  if (!add || add.getLhs() != argument || !mlir::matchPattern(add.getRhs(), mlir::m_ConstantInt(&step)))
    return std::nullopt;
  return Induction{loop.getTiedLoopInit(argument)->get(), step.getSExtValue()};
}

unsigned BitsOf(int64_t number) { return llvm::APInt(64, number, /*isSigned=*/true).abs().getActiveBits(); }

// The magnitude of a scalar of 64 bits is below 2 to this power; kAnyBits: it is not known.
unsigned MagnitudeBits(Value value, int depth = 0) {
  constexpr int kMostDepth = 6;
  if (depth > kMostDepth) return kAnyBits;
  auto of = [&](Value operand) { return MagnitudeBits(operand, depth + 1); };
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant))) return BitsOf(constant.getSExtValue());
  if (std::optional<Induction> induction = InductionOf(value))
    return std::max(of(induction->init), BitsOf(induction->step) + kMostIterationsBits) + 1;
  Operation* op = value.getDefiningOp();
  if (!op) return kAnyBits;
  if (llvm::isa<arith::ExtSIOp, arith::ExtUIOp>(op)) return op->getOperand(0).getType().getIntOrFloatBitWidth();
  if (llvm::isa<arith::AddIOp, arith::SubIOp>(op)) return std::max(of(op->getOperand(0)), of(op->getOperand(1))) + 1;
  if (llvm::isa<arith::MulIOp>(op)) return of(op->getOperand(0)) + of(op->getOperand(1));
  return kAnyBits;
}

// Whether it begins with a number that is not negative, and grows. Its magnitude is known, so that it does not wrap.
bool IsNeverNegative(Value value) {
  std::optional<Induction> induction = InductionOf(value);
  llvm::APInt init;
  return induction && induction->step >= 0 && mlir::matchPattern(induction->init, mlir::m_ConstantInt(&init)) &&
         init.isNonNegative();
}

// As OffsetSplitter::ScalarOf, also of constants.
Value SpreadScalar(mlir::OpBuilder& b, mlir::Location loc, Value tensor) {
  if (Value scalar = OffsetSplitter::ScalarOf(tensor)) return scalar;
  mlir::DenseElementsAttr constant;
  if (!mlir::matchPattern(tensor, mlir::m_Constant(&constant)) || !constant.isSplat()) return {};
  return arith::ConstantOp::create(b, loc, constant.getSplatValue<mlir::TypedAttr>());
}

// A tensor of 64-bit integers that are extended ones of 32 bits: these. Null where they are not.
Value Narrowed(mlir::OpBuilder& b, Value value) {
  Operation* op = value.getDefiningOp();
  if (auto extend = llvm::dyn_cast_if_present<arith::ExtSIOp>(op))
    return tt::ElementOf(extend.getIn().getType()).isInteger(32) ? extend.getIn() : Value();
  if (!llvm::isa_and_present<tt::ExpandDimsOp, tt::BroadcastOp>(op)) return {};
  Value narrow = Narrowed(b, op->getOperand(0));
  if (!narrow) return {};
  b.setInsertionPoint(op);
  Operation* clone = b.clone(*op);
  clone->setOperand(0, narrow);
  clone->getResult(0).setType(tt::WithElement(clone->getResult(0).getType(), b.getI32Type()));
  return clone->getResult(0);
}

// Whether indices are multiplied, as those of rows: not so those of neighbours, of which a thread has few.
bool AreMultiplied(Value indices) {
  while (auto op = indices.getDefiningOp<tt::ExpandDimsOp>()) indices = op.getSrc();
  auto is_product = [](Operation* user) { return llvm::isa<arith::MulIOp>(user); };
  return llvm::any_of(indices.getUsers(), [&](Operation* user) {
    return is_product(user) ||
           (llvm::isa<tt::ExpandDimsOp>(user) && llvm::any_of(user->getResult(0).getUsers(), is_product));
  });
}

// In place of `op`, in 32 bits.
void NarrowComparison(arith::CmpIOp op) {
  auto loop = op->getParentOfType<ForOp>();
  auto type = llvm::dyn_cast<RankedTensorType>(op.getLhs().getType());
  const Predicate predicate = op.getPredicate();
  if (!loop || !type || !type.getElementType().isInteger(64) || !AreMultiplied(op.getLhs()) ||
      (predicate != Predicate::slt && predicate != Predicate::sge))
    return;
  mlir::OpBuilder b(op);
  mlir::Location loc = op.getLoc();
  Value bound = SpreadScalar(b, loc, op.getRhs());
  OffsetSplitter splitter(b, loop);
  if (!bound || MagnitudeBits(bound) > kModerateBits || !splitter.IsInvariant(bound)) return;
  std::optional<Sum> sum = splitter.Split(op.getLhs());
  if (!sum || MagnitudeBits(sum->scalar) > kModerateBits) return;
  ElementRanges ranges;
  std::optional<ElementRange> range = ranges.Of(sum->rest);
  const bool is_least = predicate == Predicate::sge && mlir::matchPattern(bound, mlir::m_Zero());
  if (range && is_least && range->least >= 0 && IsNeverNegative(sum->scalar)) {
    b.setInsertionPoint(op);
    auto yes = mlir::DenseElementsAttr::get(llvm::cast<RankedTensorType>(op.getType()), true);
    op.replaceAllUsesWith(arith::ConstantOp::create(b, loc, yes).getResult());
    return op.erase();
  }
  Value narrow = range ? Narrowed(b, sum->rest) : Value();
  if (!narrow || range->most == std::numeric_limits<int32_t>::max()) return;
  b.setInsertionPoint(op);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 64); };
  Value number = arith::SubIOp::create(b, loc, bound, sum->scalar);
  number = arith::MaxSIOp::create(b, loc, number, constant(range->least));
  number = arith::MinSIOp::create(b, loc, number, constant(range->most + 1));
  number = arith::TruncIOp::create(b, loc, b.getI32Type(), number);
  Value spread = tt::SplatOp::create(b, loc, narrow.getType(), number);
  op.replaceAllUsesWith(arith::CmpIOp::create(b, loc, predicate, narrow, spread).getResult());
  op.erase();
}

void SeparateScalars(tt::AddPtrOp op) {
  auto loop = op->getParentOfType<ForOp>();
  auto type = llvm::dyn_cast<RankedTensorType>(op.getOffset().getType());
  auto base = op.getPtr().getDefiningOp<tt::SplatOp>();
  if (!loop || !type || !type.getElementType().isInteger(64) || !base) return;
  mlir::OpBuilder b(op);
  OffsetSplitter splitter(b, loop);
  std::optional<Sum> sum = splitter.Split(op.getOffset());
  if (!sum || !splitter.HasProduct()) return;
  b.setInsertionPoint(op);
  mlir::Location loc = op.getLoc();
  Value start = tt::AddPtrOp::create(b, loc, base.getSrc().getType(), base.getSrc(), sum->scalar);
  op.getPtrMutable().assign(tt::SplatOp::create(b, loc, op.getPtr().getType(), start));
  op.getOffsetMutable().assign(sum->rest);
}

class SeparateScalarsPass : public impl::SeparateScalarsPassBase<SeparateScalarsPass> {
  void runOnOperation() override {
    getOperation().walk(SeparateScalars);
    llvm::SmallVector<arith::CmpIOp> comparisons;
    getOperation().walk([&](arith::CmpIOp op) { comparisons.push_back(op); });
    llvm::for_each(comparisons, NarrowComparison);
  }
};

}  // namespace
}  // namespace tritond::compiler
