// SPDX-License-Identifier: Apache-2.0
// Block pointers have indices of 64 bits, and masks that keep them within the tensor. Where its sizes have 32 bits, the
// mask says of each element that is accessed that its index has 31. So the index is computed and compared in 32 bits:
//
//   %i = (extsi %start) + (extsi %range) : i64            %n = %start + %range : i32
//   %m = %i >= 0 & %i < (extsi %size)              ->     %m = %n >= 0 & %n < %size
//   tt.load (%p + %i * (extsi %stride)), %m               tt.load (%p + (extsi %n) * (extsi %stride)), %m
//
// A product of extended numbers is one instruction, one of 64 bits is three. %n wraps around only where %i is not below
// 2^31; then %n is negative, and both masks are false. Where the mask is false, the address may be any.
//
// In loops, a scalar that changes may go to the base instead (separate_scalars.cc). That takes six instructions for a
// base, and then two an address in place of three. So it is better where a thread has many.
#include "compiler/passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_NARROWINDICESPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using Predicate = arith::CmpIPredicate;

constexpr unsigned kWide = 64, kNarrow = 32;
// Of a thread in a loop.
constexpr int64_t kMostElements = 4;
// Of the sums that are looked through, each with a few operands.
constexpr int kMostDepth = 8;
// Of an address, in operations.
constexpr int kMostLength = 64;

// What only changes the shape.
bool IsShape(Operation* op) { return llvm::isa<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp>(op); }

struct Range {
  int64_t least, most;
};

// Of a number of 64 bits that is made of numbers of at most 32; nothing where it is not known. Nor where an attribute
// says more, as that it is a multiple of 16: its low bits alone would not be known for it.
std::optional<Range> RangeOf(Value value, int depth = 0) {
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > kNarrow) return std::nullopt;
    return Range{constant.getSExtValue(), constant.getSExtValue()};
  }
  Operation* op = value.getDefiningOp();
  if (!op || depth > kMostDepth || !op->getDiscardableAttrs().empty()) return std::nullopt;
  if (IsShape(op)) return RangeOf(op->getOperand(0), depth + 1);
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op))
    return Range{static_cast<int32_t>(range.getStart()),
                 static_cast<int64_t>(static_cast<int32_t>(range.getEnd())) - 1};
  if (auto extend = llvm::dyn_cast<arith::ExtSIOp>(op)) {
    if (auto range = extend.getIn().getDefiningOp<tt::MakeRangeOp>()) return RangeOf(range, depth + 1);
    const unsigned bits = tt::ElementOf(extend.getIn().getType()).getIntOrFloatBitWidth();
    if (bits > kNarrow) return std::nullopt;
    return Range{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  }
  if (!llvm::isa<arith::AddIOp>(op) || !tt::ElementOf(value.getType()).isInteger(kWide)) return std::nullopt;
  const std::optional<Range> l = RangeOf(op->getOperand(0), depth + 1), r = RangeOf(op->getOperand(1), depth + 1);
  if (!l || !r) return std::nullopt;
  return Range{l->least + r->least, l->most + r->most};
}

// The index that `mask` keeps from zero to below a number of 32 bits, and that number. Its low 32 bits alone tell
// whether it is there.
struct Bounded {
  Value index, bound;
};
std::optional<Bounded> BoundedBy(arith::AndIOp mask) {
  arith::CmpIOp low, high;
  for (Value operand : mask->getOperands())
    if (auto compare = operand.getDefiningOp<arith::CmpIOp>()) {
      if (compare.getPredicate() == Predicate::sge) low = compare;
      if (compare.getPredicate() == Predicate::slt) high = compare;
    }
  if (!low || !high || low.getLhs() != high.getLhs() || !mlir::matchPattern(low.getRhs(), mlir::m_Zero()))
    return std::nullopt;
  Value index = low.getLhs();
  auto type = llvm::dyn_cast<RankedTensorType>(index.getType());
  if (!type || !type.getElementType().isInteger(kWide)) return std::nullopt;
  const std::optional<Range> range = RangeOf(index), bound = RangeOf(high.getRhs());
  if (!range || !bound || bound->least < std::numeric_limits<int32_t>::min() ||
      bound->most > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  const bool tells =
      range->least >= std::numeric_limits<int32_t>::min() && range->most <= std::numeric_limits<uint32_t>::max();
  return tells ? std::optional(Bounded{index, high.getRhs()}) : std::nullopt;
}

// The low 32 bits of what RangeOf knows.
Value Narrowed(mlir::OpBuilder& b, Value value) {
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  mlir::Type type = tt::WithElement(value.getType(), b.getI32Type());
  Operation* op = value.getDefiningOp();
  mlir::Location loc = value.getLoc();
  if (auto extend = llvm::dyn_cast<arith::ExtSIOp>(op); extend && extend.getIn().getType() == type)
    return extend.getIn();
  if (IsShape(op)) {
    Value operand = Narrowed(b, op->getOperand(0));
    mlir::IRMapping map;
    map.map(op->getOperand(0), operand);
    b.setInsertionPointAfterValue(value);
    Operation* clone = b.clone(*op, map);
    clone->getResult(0).setType(type);
    return clone->getResult(0);
  }
  if (llvm::isa<arith::AddIOp>(op)) {
    Value l = Narrowed(b, op->getOperand(0)), r = Narrowed(b, op->getOperand(1));
    return arith::AddIOp::create(b, loc, l, r);
  }
  return arith::TruncIOp::create(b, loc, type, value);
}

// Whether `mask` is false wherever `part` is, through what changes the shape.
bool Implies(Value mask, Value part, int depth = 0) {
  if (mask == part) return true;
  Operation* op = mask.getDefiningOp();
  if (!op || depth > kMostDepth) return false;
  if (!llvm::isa<arith::AndIOp>(op) && !IsShape(op)) return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return Implies(operand, part, depth + 1); });
}

// Addresses with another index.
class Addresses final {
 public:
  Addresses(Value from, Value to) { made_[from] = to; }

  // Parts of it that take more operations than kMostLength keep the index that they have.
  Value Of(mlir::OpBuilder& b, Value value, int depth = 0) {
    if (auto found = made_.find(value); found != made_.end()) return found->second;
    if (depth > kMostLength) return value;
    Operation* op = value.getDefiningOp();
    Value result = value;
    if (op && (IsShape(op) || llvm::isa<tt::AddPtrOp, arith::AddIOp, arith::MulIOp>(op))) {
      mlir::IRMapping map;
      bool changes = false;
      for (Value operand : op->getOperands()) {
        Value now = Of(b, operand, depth + 1);
        changes |= now != operand;
        map.map(operand, now);
      }
      if (changes) {
        b.setInsertionPoint(op);
        result = b.clone(*op, map)->getResult(0);
      }
    }
    made_[value] = result;
    return result;
  }

 private:
  llvm::DenseMap<Value, Value> made_;
};

// Whether a scalar that changes in a loop could go to the base of an address with this index.
bool ChangesInLoop(Value index) {
  auto loop = index.getDefiningOp()->getParentOfType<mlir::scf::ForOp>();
  return loop && !loop.isDefinedOutsideOfLoop(index);
}

class NarrowIndicesPass : public impl::NarrowIndicesPassBase<NarrowIndicesPass> {
 public:
  using NarrowIndicesPassBase::NarrowIndicesPassBase;

 private:
  // The operand that is the address of a masked access, and its mask.
  struct Access {
    mlir::OpOperand* pointer = nullptr;
    Value mask;
  };
  static Access AccessOf(Operation* op) {
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return {&load.getPtrMutable(), load.getMask()};
    if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) return {&store.getPtrMutable(), store.getMask()};
    return {};
  }

  void Narrow(arith::AndIOp mask, llvm::ArrayRef<Access> accesses) {
    const std::optional<Bounded> bounded = BoundedBy(mask);
    if (!bounded) return;
    llvm::SmallVector<Access> guarded;
    for (const Access& access : accesses) {
      if (!Implies(access.mask, mask)) continue;
      auto type = llvm::dyn_cast<RankedTensorType>(access.pointer->get().getType());
      // All of them have one index, so that either all or none are changed.
      if (ChangesInLoop(bounded->index) && (!type || type.getNumElements() > kMostElements * threads)) return;
      guarded.push_back(access);
    }
    if (guarded.empty()) return;
    mlir::OpBuilder b(mask);
    Value narrow = Narrowed(b, bounded->index), bound = Narrowed(b, bounded->bound);
    b.setInsertionPointAfterValue(narrow);
    Value wide = arith::ExtSIOp::create(b, mask.getLoc(), bounded->index.getType(), narrow);
    Addresses addresses(bounded->index, wide);
    for (const Access& access : guarded) access.pointer->set(addresses.Of(b, access.pointer->get()));
    b.setInsertionPoint(mask);
    auto type = llvm::cast<RankedTensorType>(narrow.getType());
    Value zero =
        arith::ConstantOp::create(b, mask.getLoc(), mlir::DenseElementsAttr::get(type, b.getI32IntegerAttr(0)));
    Value low = arith::CmpIOp::create(b, mask.getLoc(), Predicate::sge, narrow, zero);
    Value high = arith::CmpIOp::create(b, mask.getLoc(), Predicate::slt, narrow, bound);
    mask->setOperands({low, high});
  }

  void runOnOperation() override {
    llvm::SmallVector<Access> accesses;
    llvm::SmallVector<arith::AndIOp> masks;
    getOperation().walk([&](Operation* op) {
      if (Access access = AccessOf(op); access.mask) accesses.push_back(access);
      if (auto mask = llvm::dyn_cast<arith::AndIOp>(op)) masks.push_back(mask);
    });
    for (arith::AndIOp mask : masks) Narrow(mask, accesses);
  }
};

}  // namespace
}  // namespace tritond::compiler
