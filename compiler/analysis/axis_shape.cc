// SPDX-License-Identifier: Apache-2.0
// Facts through operations that make tensors or move their elements.
#include <algorithm>

#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler::axis {
namespace {

using mlir::Operation;

AxisInfo MakeRange(tt::MakeRangeOp op) {
  int64_t start = static_cast<int32_t>(op.getStart()), size = static_cast<int32_t>(op.getEnd()) - start;
  if (size == 1) return Constant({1}, start);
  AxisInfo info;
  info.dims.push_back({size, PowerOfTwoIn(start), 1});
  return info;
}

AxisInfo Splat(tt::SplatOp op, const AxisInfo& src) {
  AxisInfo info;
  int64_t divisibility = ValueDivisibility(src, StepOf(op.getSrc().getType()));
  for (int64_t size : ShapeOf(op.getType())) info.dims.push_back({1, divisibility, size});
  info.constant = src.constant;
  return info;
}

AxisInfo Unsplat(tt::UnsplatOp op, const AxisInfo& src) {
  AxisInfo info;
  info.dims.push_back({1, ValueDivisibility(src, StepOf(op.getType())), 1});
  info.constant = src.constant;
  return info;
}

AxisInfo ExpandDims(tt::ExpandDimsOp op, const AxisInfo& src) {
  AxisInfo info = src;
  AxisDim added{1, ValueDivisibility(src, StepOf(op.getType())), 1};
  info.dims.insert(info.dims.begin() + op.getAxis(), added);
  return info;
}

AxisInfo Broadcast(tt::BroadcastOp op, const AxisInfo& src) {
  AxisInfo info = src;
  llvm::SmallVector<int64_t, 2> from = ShapeOf(op.getSrc().getType()), to = ShapeOf(op.getType());
  for (auto [dim, old_size, size] : llvm::zip_equal(info.dims, from, to)) {
    if (old_size == size) continue;
    dim.contiguity = 1;
    dim.constancy = size;
  }
  return info;
}

AxisInfo Trans(tt::TransOp op, const AxisInfo& src) {
  AxisInfo info = src;
  for (auto [i, dim] : llvm::enumerate(op.getOrder())) info.dims[i] = src.dims[dim];
  return info;
}

// A dimension covers bits [low, low + size) of the row-major index of an element; sizes are powers of two.
struct IndexBits {
  int low = 0;
  int size = 0;
};

llvm::SmallVector<IndexBits> BitsOf(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<IndexBits> bits(shape.size());
  int low = 0;
  for (size_t i = shape.size(); i-- > 0; low += bits[i].size)
    bits[i] = {low, static_cast<int>(llvm::Log2_64(shape[i]))};
  return bits;
}

// The number of index bits from `low` up that do not change the value.
int ConstantBits(const AxisInfo& src, llvm::ArrayRef<IndexBits> bits, int low) {
  int end = low;
  for (size_t i = bits.size(); i-- > 0;) {
    if (bits[i].size == 0 || bits[i].low + bits[i].size <= end) continue;
    int constant = std::min<int>(llvm::Log2_64(src.dims[i].constancy), bits[i].size);
    end = std::max(end, bits[i].low + constant);
    if (constant < bits[i].size) break;
  }
  return end - low;
}

// A run along a source dimension goes on along the result dimension that begins at the same bit of the index.
AxisInfo Reshape(tt::ReshapeOp op, const AxisInfo& src) {
  llvm::SmallVector<int64_t, 2> from = ShapeOf(op.getSrc().getType()), to = ShapeOf(op.getType());
  int64_t step = StepOf(op.getType());
  AxisInfo info;
  info.constant = src.constant;
  auto src_bits = BitsOf(from), result_bits = BitsOf(to);
  bool keeps_order = !op.getAllowReorder();
  bool constant = from.empty() || ConstantBits(src, src_bits, 0) >= src_bits.front().low + src_bits.front().size;
  for (auto [size, bits] : llvm::zip_equal(to, result_bits)) {
    AxisDim dim{1, ValueDivisibility(src, step), constant ? size : 1};
    if (keeps_order && bits.size > 0) {
      dim.constancy = int64_t{1} << std::min(bits.size, ConstantBits(src, src_bits, bits.low));
      for (auto [known, run] : llvm::zip_equal(src.dims, src_bits)) {
        if (run.low != bits.low || run.size == 0) continue;
        dim.contiguity = std::min(known.contiguity, size);
        dim.divisibility = StartDivisibility(known, dim.contiguity, step);
      }
    }
    info.dims.push_back(dim);
  }
  return info;
}

AxisInfo JoinHalves(tt::JoinOp op, const AxisInfo& lhs, const AxisInfo& rhs) {
  int64_t step = StepOf(op.getType());
  AxisInfo info = Join(lhs, rhs, step);
  info.dims.push_back({1, std::min(ValueDivisibility(lhs, step), ValueDivisibility(rhs, step)), info.constant ? 2 : 1});
  return info;
}

// Facts along the other dimensions hold in each half. Values of a group along the last one go to different halves.
AxisInfo SplitHalves(tt::SplitOp op, const AxisInfo& src) {
  AxisInfo info = src;
  info.dims.pop_back();
  return info;
}

AxisInfo Load(tt::LoadOp op, OperandInfos in) {
  llvm::SmallVector<int64_t, 2> shape = ShapeOf(op.getType());
  AxisInfo info = Unknown(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t constancy = shape[d];
    for (const AxisInfo& operand : in) constancy = std::min(constancy, operand.dims[d].constancy);
    info.dims[d].constancy = constancy;
  }
  return info;
}

AxisInfo Poison(Operation* op) {
  AxisInfo info;
  info.dims.resize(ShapeOf(op->getResult(0).getType()).size(), {kUnbounded, kUnbounded, kUnbounded});
  return info;
}

}  // namespace

std::optional<AxisInfo> TransferShape(Operation* op, OperandInfos in) {
  return llvm::TypeSwitch<Operation*, std::optional<AxisInfo>>(op)
      .Case([&](tt::SplatOp splat) { return Splat(splat, in[0]); })
      .Case([&](tt::BroadcastOp broadcast) { return Broadcast(broadcast, in[0]); })
      .Case([&](tt::ExpandDimsOp expand) { return ExpandDims(expand, in[0]); })
      .Case([&](tt::MakeRangeOp range) { return MakeRange(range); })
      .Case([&](tt::LoadOp load) { return Load(load, in); })
      .Case([&](ttg::ConvertLayoutOp) { return in[0]; })
      .Case([&](tt::ReshapeOp reshape) { return Reshape(reshape, in[0]); })
      .Case([&](tt::TransOp trans) { return Trans(trans, in[0]); })
      .Case([&](tt::JoinOp join) { return JoinHalves(join, in[0], in[1]); })
      .Case([&](tt::SplitOp split) { return SplitHalves(split, in[0]); })
      .Case([&](tt::UnsplatOp unsplat) { return Unsplat(unsplat, in[0]); })
      .Case([&](mlir::ub::PoisonOp) { return Poison(op); })
      .Default([](Operation*) { return std::nullopt; });
}

}  // namespace tritond::compiler::axis
