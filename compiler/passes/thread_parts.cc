// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/thread_parts.h"

#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {
namespace {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Attribute;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

// The shapes between a tensor and one whose axis is two: that of threads, and that of the registers of each.
struct Steps {
  SmallVector<int64_t> split, ordered, merged;
  SmallVector<int32_t> order;
  int64_t registers = 1;
};

Steps StepsOf(ArrayRef<int64_t> shape, unsigned axis, ArrayRef<AxisGroup> groups) {
  Steps steps;
  steps.split.assign(shape.begin(), shape.begin() + axis);
  steps.merged = steps.split;
  steps.order = llvm::to_vector(llvm::seq<int32_t>(0, axis));
  int64_t threads = 1;
  for (bool in_thread : {false, true})
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (group.in_thread != in_thread) continue;
      steps.order.push_back(axis + i);
      (in_thread ? steps.registers : threads) *= group.size;
    }
  for (const AxisGroup& group : groups) steps.split.push_back(group.size);
  steps.merged.append({threads, steps.registers});
  for (size_t dim = axis + 1; dim < shape.size(); ++dim) {
    steps.order.push_back(steps.split.size());
    steps.split.push_back(shape[dim]);
    steps.merged.push_back(shape[dim]);
  }
  for (int32_t dim : steps.order) steps.ordered.push_back(steps.split[dim]);
  return steps;
}

Value Reshape(OpBuilder& b, Value value, ArrayRef<int64_t> shape) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape) return value;
  Attribute encoding = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), shape);
  if (!encoding) return {};
  return tt::ReshapeOp::create(b, value.getLoc(), RankedTensorType::get(shape, type.getElementType(), encoding), value,
                               false, false);
}

Value Transpose(OpBuilder& b, Value value, ArrayRef<int32_t> order) {
  if (llvm::is_sorted(order)) return value;
  auto type = llvm::cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int32_t dim : order) shape.push_back(type.getDimSize(dim));
  Attribute encoding = ttg::TransEncoding(type.getEncoding(), type.getShape(), order);
  if (!encoding) return {};
  return tt::TransOp::create(b, value.getLoc(), RankedTensorType::get(shape, type.getElementType(), encoding), value,
                             order);
}

}  // namespace

std::optional<SmallVector<AxisGroup>> AxisGroups(RankedTensorType type, unsigned axis) {
  const LinearLayout layout = ttg::ToLinearLayout(type);
  if (!IsReducible(layout, axis)) return std::nullopt;
  const LayoutDim& out = layout.OutDims()[axis];
  SmallVector<int> owners(out.bits, -1);  // 1: registers
  for (const LayoutDim& in : layout.InDims())
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      uint64_t move = (layout.columns()[in.shift + bit] >> out.shift) & out.mask();
      if (move == 0) continue;
      if (!llvm::isPowerOf2_64(move)) return std::nullopt;
      owners[llvm::Log2_64(move)] = in.name == "register";
    }
  SmallVector<AxisGroup> groups;
  for (int owner : llvm::reverse(owners)) {
    if (owner < 0) return std::nullopt;
    if (groups.empty() || groups.back().in_thread != (owner == 1)) groups.push_back({1, owner == 1});
    groups.back().size *= 2;
  }
  return groups;
}

bool CrossesThreads(ArrayRef<AxisGroup> groups) {
  return llvm::any_of(groups, [](const AxisGroup& group) { return !group.in_thread; });
}

Value ReduceLike(OpBuilder& b, tt::ReduceOp like, Value value, unsigned axis) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  mlir::Type result = type.getElementType();
  auto parent = llvm::cast<ttg::DistributedEncoding>(type.getEncoding());
  if (!shape.empty())
    result = RankedTensorType::get(shape, result, ttg::SliceEncodingAttr::get(b.getContext(), axis, parent));
  auto made = tt::ReduceOp::create(b, like.getLoc(), mlir::TypeRange(result), mlir::ValueRange(value), axis);
  mlir::IRMapping mapping;
  like.getCombineOp().cloneInto(&made.getCombineOp(), mapping);
  // What was said not to overflow in one order may do so in another.
  made->walk([](mlir::arith::ArithIntegerOverflowFlagsInterface op) {
    auto none = mlir::arith::IntegerOverflowFlagsAttr::get(op->getContext(), mlir::arith::IntegerOverflowFlags::none);
    op->setAttr(op.getIntegerOverflowAttrName(), none);
  });
  return made->getResult(0);
}

Value ReduceInThread(OpBuilder& b, tt::ReduceOp reduce, ArrayRef<AxisGroup> groups) {
  Value value = reduce.getSrcs()[0];
  const unsigned axis = reduce.getAxis();
  const Steps steps = StepsOf(reduce.InputType().getShape(), axis, groups);
  if (steps.registers == 1) return value;
  value = Reshape(b, value, steps.split);
  if (value) value = Transpose(b, value, steps.order);
  if (value) value = Reshape(b, value, steps.merged);
  return value ? ReduceLike(b, reduce, value, axis + 1) : Value();
}

Value RepeatInThread(OpBuilder& b, Value parts, RankedTensorType type, unsigned axis, ArrayRef<AxisGroup> groups) {
  const Steps steps = StepsOf(type.getShape(), axis, groups);
  if (steps.registers == 1) return parts;
  auto slice = llvm::cast<ttg::SliceEncodingAttr>(llvm::cast<RankedTensorType>(parts.getType()).getEncoding());
  auto repeated = RankedTensorType::get(steps.merged, type.getElementType(), slice.getParent());
  SmallVector<int64_t> once(steps.merged);
  once[axis + 1] = 1;
  mlir::Location loc = parts.getLoc();
  Value value = tt::ExpandDimsOp::create(b, loc, repeated.clone(once), parts, axis + 1);
  value = tt::BroadcastOp::create(b, loc, repeated, value);
  SmallVector<int32_t> back(steps.order.size());
  for (auto [to, from] : llvm::enumerate(steps.order)) back[from] = to;
  value = Reshape(b, value, steps.ordered);
  if (value) value = Transpose(b, value, back);
  if (value) value = Reshape(b, value, type.getShape());
  return value ? ttg::ConvertLayoutOp::create(b, loc, type, value).getResult() : Value();
}

Value RepeatAlong(OpBuilder& b, Value value, unsigned axis, RankedTensorType type) {
  mlir::Location loc = value.getLoc();
  auto line = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!line) return tt::SplatOp::create(b, loc, type, value);
  auto encoding = llvm::cast<ttg::DistributedEncoding>(type.getEncoding());
  line = line.cloneWithEncoding(ttg::SliceEncodingAttr::get(b.getContext(), axis, encoding));
  value = ttg::ConvertLayoutOp::create(b, loc, line, value);
  SmallVector<int64_t> shape(line.getShape());
  shape.insert(shape.begin() + axis, 1);
  value = tt::ExpandDimsOp::create(b, loc, type.clone(shape), value, axis);
  return tt::BroadcastOp::create(b, loc, type, value);
}

}  // namespace tritond::compiler
