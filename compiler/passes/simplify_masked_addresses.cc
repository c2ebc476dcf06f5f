// SPDX-License-Identifier: Apache-2.0
// Computes addresses of loads and stores as their masks permit, for nobody reads those of elements that a mask leaves
// out. Where the mask says which value a select takes, there is no select:
//
//   %c = arith.select %inside, %column, %zero            %p = tt.addptr %base, %column
//   %p = tt.addptr %base, %c                      ->     %v = tt.load %p, %inside
//   %v = tt.load %p, %inside
//
// Neighbours are neighbours again then, so an access may be wide. Where the mask says that an index is below a number
// of 32 bits, it is divided in 32 bits:
//
//   %inside = arith.cmpi slt, %index, %n : i64           %i = arith.trunci %index : i64 to i32
//   %row = arith.divsi %index, %width : i64       ->     %q = arith.divsi %i, %narrow_width : i32
//   %p = tt.addptr %base, %row                           %row = arith.extsi %q : i32 to i64
//   %v = tt.load %p, %inside                             %p = tt.addptr %base, %row
//
// Operations between that and the access are copied, if they can take any number. A division by a select may not: the
// select may have kept zero away. If anything else needs the old value, all stays as it is.
#include <utility>

#include "compiler/analysis/axis_info.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/narrow_numbers.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SIMPLIFYMASKEDADDRESSESPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

// Of operations that are looked through.
constexpr size_t kMostDepth = 32;

bool IsDivision(Operation* op) { return llvm::isa<arith::DivSIOp, arith::RemSIOp>(op); }

// Whether the operation's result is copied with other operands.
bool IsPassed(Operation* op) {
  return op->getDiscardableAttrs().empty() &&
         (ChangesShape(op) || llvm::isa<tt::AddPtrOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp,
                                        arith::ExtUIOp, arith::TruncIOp>(op));
}

// Whether the mask is made of `condition` and others, however it is spread over the mask's shape.
bool Implies(Value mask, Value condition, size_t depth = 0) {
  if (mask == condition) return true;
  Operation* op = mask ? mask.getDefiningOp() : nullptr;
  if (!op || depth > kMostDepth || !(ChangesShape(op) || llvm::isa<arith::AndIOp>(op))) return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return Implies(operand, condition, depth + 1); });
}

// Whether all that is made of the value are addresses of accesses under masks that imply the condition.
bool IsForMasked(Value value, Value condition, size_t depth = 0) {
  return depth <= kMostDepth && llvm::all_of(value.getUses(), [&](mlir::OpOperand& use) {
           Operation* user = use.getOwner();
           if (IsPassed(user) || (IsDivision(user) && use.getOperandNumber() == 0))
             return IsForMasked(user->getResult(0), condition, depth + 1);
           return llvm::TypeSwitch<Operation*, bool>(user)
               .Case<tt::LoadOp, tt::StoreOp>(
                   [&](auto access) { return &use == &access.getPtrMutable() && Implies(access.getMask(), condition); })
               .Default(false);
         });
}

// Of an access's value: how its elements come from those of a value that it is made of, as the results' shapes.
using Path = llvm::SmallVector<std::pair<mlir::Attribute, mlir::Type>, 4>;

Path Extended(const Path& path, Operation* op) {
  Path longer = path;
  mlir::Builder builder(op->getContext());
  mlir::Attribute axis = op->getName().getIdentifier();
  if (auto expand = llvm::dyn_cast<tt::ExpandDimsOp>(op)) axis = builder.getI64IntegerAttr(expand.getAxis());
  auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  longer.emplace_back(axis, mlir::RankedTensorType::get(type.getShape(), builder.getI1Type()));
  return longer;
}

// Rewrites addresses for one mask.
class AddressRewriter final {
 public:
  AddressRewriter(Value mask, const AxisInfoAnalysis& axes) : axes_(axes) { AddConditions(mask, {}, 0); }

  // Null where there is nothing to simplify.
  Value Rewritten(Value value, const Path& path = {}, size_t depth = 0) {
    Operation* op = value.getDefiningOp();
    if (!op || depth > kMostDepth || !op->getDiscardableAttrs().empty()) return nullptr;
    for (auto& [known, known_path, rewritten] : rewritten_)
      if (known == value && known_path == path) return rewritten;
    Value result = Find(op, path, depth);
    rewritten_.push_back({value, path, result});
    return result;
  }

 private:
  // What holds wherever the mask does.
  void AddConditions(Value mask, const Path& path, size_t depth) {
    conditions_.emplace_back(mask, path);
    Operation* op = mask.getDefiningOp();
    if (!op || depth > kMostDepth) return;
    if (ChangesShape(op)) return AddConditions(op->getOperand(0), Extended(path, op), depth + 1);
    if (!llvm::isa<arith::AndIOp>(op)) return;
    for (Value operand : op->getOperands()) AddConditions(operand, path, depth + 1);
  }

  Value Find(Operation* op, const Path& path, size_t depth) {
    if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) return Chosen(select, path, depth);
    if (IsDivision(op)) return Quotient(op, path, depth);
    if (!IsPassed(op)) return nullptr;
    const Path below = ChangesShape(op) ? Extended(path, op) : path;
    llvm::SmallVector<Value> operands;
    bool changes = false;
    for (Value operand : op->getOperands()) {
      Value rewritten = Rewritten(operand, below, depth + 1);
      operands.push_back(rewritten ? rewritten : operand);
      changes |= rewritten != nullptr;
    }
    if (!changes) return nullptr;
    mlir::OpBuilder builder(op);
    Operation* copy = builder.clone(*op);
    copy->setOperands(operands);
    return copy->getResult(0);
  }

  Value Chosen(arith::SelectOp select, const Path& path, size_t depth) {
    Value condition = select.getCondition();
    if (!llvm::is_contained(conditions_, std::pair(condition, path)) || !IsForMasked(select, condition)) return nullptr;
    Value chosen = select.getTrueValue();
    Value rewritten = Rewritten(chosen, path, depth + 1);
    return rewritten ? rewritten : chosen;
  }

  Value Quotient(Operation* op, const Path& path, size_t depth) {
    if (!tt::ElementOf(op->getResult(0).getType()).isInteger(kWideBits) || !IsNarrow(op->getOperand(1))) return nullptr;
    Value dividend = op->getOperand(0);
    if (Value quotient = Rewritten(dividend, path, depth + 1)) {
      if (!quotients_.contains(quotient)) return nullptr;
      dividend = quotient;
    } else {
      Value bound = Bound(dividend, path);
      if (!bound || !axes_.Get(dividend).non_negative || !IsForMasked(op->getResult(0), bound)) return nullptr;
    }
    mlir::OpBuilder builder(op);
    Value quotient = DividedInNarrowBits(builder, op, dividend);
    quotients_.insert(quotient);
    return quotient;
  }

  // The comparison that holds, by which the value is below one of 32 bits; else null.
  Value Bound(Value value, const Path& path) const {
    using Predicate = arith::CmpIPredicate;
    for (const auto& [condition, condition_path] : conditions_) {
      auto compare = condition.getDefiningOp<arith::CmpIOp>();
      if (!compare || condition_path != path) continue;
      const Predicate predicate = compare.getPredicate();
      const bool is_left = predicate == Predicate::slt || predicate == Predicate::sle;
      if (!is_left && predicate != Predicate::sgt && predicate != Predicate::sge) continue;
      if (compare->getOperand(is_left ? 0 : 1) == value && IsNarrow(compare->getOperand(is_left ? 1 : 0)))
        return condition;
    }
    return nullptr;
  }

  struct Known {
    Value value;
    Path path;
    Value rewritten;
  };
  const AxisInfoAnalysis& axes_;
  llvm::SmallVector<std::pair<Value, Path>> conditions_;
  llvm::SmallVector<Known> rewritten_;
  llvm::DenseSet<Value> quotients_;  // that are made
};

class SimplifyMaskedAddressesPass : public impl::SimplifyMaskedAddressesPassBase<SimplifyMaskedAddressesPass> {
  void runOnOperation() override {
    llvm::MapVector<Value, llvm::SmallVector<mlir::OpOperand*>> pointers;  // by mask
    getOperation().walk([&](Operation* op) {
      llvm::TypeSwitch<Operation*>(op).Case<tt::LoadOp, tt::StoreOp>([&](auto access) {
        if (access.getMask()) pointers[access.getMask()].push_back(&access.getPtrMutable());
      });
    });
    if (pointers.empty()) return;
    const AxisInfoAnalysis axes(getOperation());
    for (auto& [mask, uses] : pointers) {
      AddressRewriter rewriter(mask, axes);
      for (mlir::OpOperand* pointer : uses)
        if (Value rewritten = rewriter.Rewritten(pointer->get())) pointer->set(rewritten);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
