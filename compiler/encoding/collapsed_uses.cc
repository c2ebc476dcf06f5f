// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/collapsed_uses.h"

#include <optional>

#include "compiler/ir/collapsed_block.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using Shape = llvm::ArrayRef<int64_t>;

Shape ShapeOf(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()).getShape(); }

bool IsOnElements(Operation* op) {
  return op && op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 && mlir::isMemoryEffectFree(op) &&
         llvm::isa<RankedTensorType>(op->getResult(0).getType()) && !llvm::isa<tt::ElementwiseInlineAsmOp>(op);
}

std::optional<mlir::DenseElementsAttr> SplatConstant(Value value) {
  mlir::DenseElementsAttr constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant)) || !constant.isSplat()) return std::nullopt;
  return constant;
}

// Whether the one shape has fewer dimensions of several elements, and is the other one collapsed.
bool Collapses(Shape block, Shape rows) {
  return WithoutOnes(rows).size() < WithoutOnes(block).size() && CollapsedDims(block, WithoutOnes(rows));
}

// Whether nothing uses `value` but reshapes to `shape`, and operations on elements whose results are used likewise.
bool HasUsesOf(Value value, Shape shape) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    for (Operation* user : values[i].getUsers()) {
      auto reshape = llvm::dyn_cast<tt::ReshapeOp>(user);
      if (reshape ? reshape.getType().getShape() != shape : !IsOnElements(user)) return false;
      if (!reshape) values.insert(user->getResult(0));
    }
  }
  return true;
}

// The operations on elements that `value` is computed by.
class ElementTree final {
 public:
  // `is_leaf`: what they may begin with, beside splats. False where there is something else.
  bool Find(Value value, llvm::function_ref<bool(Value)> is_leaf) {
    if (ops_.contains(value.getDefiningOp()) || !llvm::isa<RankedTensorType>(value.getType())) return true;
    if (SplatConstant(value) || value.getDefiningOp<tt::SplatOp>() || is_leaf(value)) return true;
    Operation* op = value.getDefiningOp();
    if (!IsOnElements(op)) return false;
    for (Value operand : op->getOperands())
      if (!Find(operand, is_leaf)) return false;
    ops_.insert(op);
    return true;
  }

  // `value` of these sizes, with all that it is computed by.
  Value Reshaped(mlir::OpBuilder& b, Value value, Shape shape) {
    auto old = llvm::dyn_cast<RankedTensorType>(value.getType());
    if (!old) return value;
    if (Value known = made_.lookup(value)) return known;
    auto type = RankedTensorType::get(shape, old.getElementType());
    Value made;
    if (ops_.contains(value.getDefiningOp())) {
      made = Clone(b, value.getDefiningOp(), shape);
    } else if (auto constant = SplatConstant(value)) {
      made = mlir::arith::ConstantOp::create(b, value.getLoc(), constant->resizeSplat(type));
    } else if (auto splat = value.getDefiningOp<tt::SplatOp>()) {
      made = tt::SplatOp::create(b, value.getLoc(), type, splat.getSrc());
    } else {
      made = tt::ReshapeOp::create(b, value.getLoc(), type, value, false, false);
    }
    return made_[value] = made;
  }

  void EraseUnused() {
    for (Operation* op : llvm::reverse(ops_))
      if (op->use_empty()) op->erase();
  }

 private:
  Value Clone(mlir::OpBuilder& b, Operation* op, Shape shape) {
    mlir::IRMapping operands;
    for (Value operand : op->getOperands()) operands.map(operand, Reshaped(b, operand, shape));
    Operation* clone = b.clone(*op, operands);
    Value result = clone->getResult(0);
    result.setType(RankedTensorType::get(shape, tt::ElementOf(result.getType())));
    // Hints speak of the other dimensions.
    for (mlir::NamedAttribute attribute : llvm::to_vector(clone->getDiscardableAttrs()))
      clone->removeDiscardableAttr(attribute.getName());
    return result;
  }

  llvm::SetVector<Operation*> ops_;  // operands first
  llvm::DenseMap<Value, Value> made_;
};

void MoveToLoads(tt::ReshapeOp reshape) {
  const Value block = reshape.getSrc();
  const Shape rows = reshape.getType().getShape();
  if (!IsOnElements(block.getDefiningOp()) || !Collapses(ShapeOf(block), rows)) return;
  ElementTree tree;
  auto is_leaf = [&](Value value) { return value.getDefiningOp<tt::DescriptorLoadOp>() && HasUsesOf(value, rows); };
  if (!tree.Find(block, is_leaf)) return;
  mlir::OpBuilder b(reshape);
  reshape.getResult().replaceAllUsesWith(tree.Reshaped(b, block, rows));
  reshape.erase();
  tree.EraseUnused();
}

void MoveToStore(tt::DescriptorStoreOp store) {
  const Value block = store.getSrc();
  if (!IsOnElements(block.getDefiningOp())) return;
  std::optional<Shape> rows;
  ElementTree tree;
  auto is_leaf = [&](Value value) {
    if (!value.getDefiningOp<tt::ReshapeOp>() || (rows && *rows != ShapeOfSource(value))) return false;
    rows = ShapeOfSource(value);
    return true;
  };
  if (!tree.Find(block, is_leaf) || !rows || !Collapses(ShapeOf(block), *rows)) return;
  mlir::OpBuilder b(store);
  Value value = tree.Reshaped(b, block, *rows);
  auto reshaped =
      tt::ReshapeOp::create(b, store.getLoc(), llvm::cast<RankedTensorType>(block.getType()), value, false, false);
  store.getSrcMutable().assign(reshaped);
  tree.EraseUnused();
}

}  // namespace

Shape ShapeOfUses(Value block) {
  std::optional<Shape> common;
  for (Operation* user : block.getUsers()) {
    const Shape shape = llvm::isa<tt::ReshapeOp>(user) ? ShapeOfUses(user->getResult(0)) : ShapeOf(block);
    if (common && *common != shape) return ShapeOf(block);
    common = shape;
  }
  return common ? *common : ShapeOf(block);
}

Shape ShapeOfSource(Value block) {
  while (auto reshape = block.getDefiningOp<tt::ReshapeOp>()) block = reshape.getSrc();
  return ShapeOf(block);
}

void MoveReshapesToBlocks(Operation* root) {
  llvm::SmallVector<tt::ReshapeOp> reshapes;
  root->walk([&](tt::ReshapeOp reshape) { reshapes.push_back(reshape); });
  for (tt::ReshapeOp reshape : reshapes) MoveToLoads(reshape);
  root->walk(MoveToStore);
}

}  // namespace tritond::compiler
