// SPDX-License-Identifier: Apache-2.0
// Drops selects from addresses of loads and stores whose mask says which value they select:
//
//   %c = arith.select %inside, %column, %zero            %p = tt.addptr %base, %column
//   %p = tt.addptr %base, %c                      ->     %v = tt.load %p, %inside
//   %v = tt.load %p, %inside
//
// Nobody reads the addresses of elements that the mask leaves out. The other addresses are neighbours as %column is, so
// an access may be wide. Operations between the select and the access are copied, if they can take any number. A
// division may not: the select may have kept zero away.
#include <utility>

#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DROPMASKEDSELECTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

// Of operations that are looked through.
constexpr size_t kMostDepth = 32;

bool ChangesShape(Operation* op) { return llvm::isa<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp>(op); }

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
  explicit AddressRewriter(Value mask) { AddConditions(mask, {}, 0); }

  // Null where no select can be dropped.
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
    if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) {
      if (!llvm::is_contained(conditions_, std::pair(Value(select.getCondition()), path))) return nullptr;
      Value chosen = select.getTrueValue();
      Value rewritten = Rewritten(chosen, path, depth + 1);
      return rewritten ? rewritten : chosen;
    }
    const bool changes_shape = ChangesShape(op);
    if (!changes_shape && !llvm::isa<tt::AddPtrOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp,
                                     arith::ExtUIOp, arith::TruncIOp>(op))
      return nullptr;
    const Path below = changes_shape ? Extended(path, op) : path;
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

  struct Known {
    Value value;
    Path path;
    Value rewritten;
  };
  llvm::SmallVector<std::pair<Value, Path>> conditions_;
  llvm::SmallVector<Known> rewritten_;
};

class DropMaskedSelectsPass : public impl::DropMaskedSelectsPassBase<DropMaskedSelectsPass> {
  void runOnOperation() override {
    llvm::MapVector<Value, llvm::SmallVector<mlir::OpOperand*>> pointers;  // by mask
    getOperation().walk([&](Operation* op) {
      llvm::TypeSwitch<Operation*>(op).Case<tt::LoadOp, tt::StoreOp>([&](auto access) {
        if (access.getMask()) pointers[access.getMask()].push_back(&access.getPtrMutable());
      });
    });
    for (auto& [mask, uses] : pointers) {
      AddressRewriter rewriter(mask);
      for (mlir::OpOperand* pointer : uses)
        if (Value rewritten = rewriter.Rewritten(pointer->get())) pointer->set(rewritten);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
