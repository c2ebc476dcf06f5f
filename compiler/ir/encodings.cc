// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/encodings.h"

#include <algorithm>

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"

namespace tritond::ttg {
namespace {

using compiler::DimSize;
using compiler::LinearLayout;
using mlir::Attribute;
using mlir::RankedTensorType;

int ModuleInt(mlir::Operation* op, llvm::StringRef name, int missing) {
  auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
  if (!module) module = op->getParentOfType<mlir::ModuleOp>();
  auto value = module ? module->getAttrOfType<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return value ? value.getInt() : missing;
}

LinearLayout LayoutOf(Attribute encoding, llvm::ArrayRef<int64_t> shape) {
  return llvm::cast<DistributedEncoding>(encoding).ToLinearLayout(shape);
}

Attribute Linear(const LinearLayout& layout, mlir::MLIRContext* context) {
  return LinearEncodingAttr::get(context, layout);
}

llvm::SmallVector<int32_t> Inverse(llvm::ArrayRef<int32_t> order) {
  llvm::SmallVector<int32_t> inverse(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) inverse[dim] = i;
  return inverse;
}

template <typename Range>
llvm::SmallVector<absl::string_view> Views(const Range& names) {
  return llvm::SmallVector<absl::string_view>(names.begin(), names.end());
}

llvm::ArrayRef<int64_t> ShapeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()).getShape(); }

bool KeepsEncoding(mlir::Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() || op->hasTrait<tt::SameTensorEncoding>();
}

}  // namespace

int NumWarps(mlir::Operation* op) { return ModuleInt(op, kNumWarpsAttr, 4); }
int ThreadsPerWarp(mlir::Operation* op) { return ModuleInt(op, kThreadsPerWarpAttr, 32); }

llvm::SmallVector<std::string> DimNames(unsigned rank) {
  llvm::SmallVector<std::string> names;
  for (unsigned dim = 0; dim < rank; ++dim) names.push_back("dim" + std::to_string(dim));
  return names;
}

LinearLayout ToLinearLayout(RankedTensorType type) { return LayoutOf(type.getEncoding(), type.getShape()); }

LinearLayout ToLinearLayout(MemDescType type) {
  auto encoding = llvm::cast<SharedEncoding>(type.getEncoding());
  if (encoding.Rank() == type.getShape().size()) return encoding.ToLinearLayout(type.getShape());
  // A row of buffers, one behind the other.
  auto names = DimNames(type.getShape().size());
  llvm::SmallVector<absl::string_view> all(names.begin(), names.end());
  LinearLayout one = encoding.ToLinearLayout(type.getShape().drop_front()).RenameOuts(llvm::ArrayRef(all).drop_front());
  return (one * LinearLayout::Identity1D(type.getShape()[0], "offset", names[0])).TransposeOuts(all);
}

bool SamePlacement(llvm::ArrayRef<int64_t> shape, Attribute a, Attribute b) {
  return a == b || LayoutOf(a, shape) == LayoutOf(b, shape);
}

BlockedEncodingAttr BlockedEncodingAttr::ForShape(mlir::MLIRContext* context, llvm::ArrayRef<int64_t> shape,
                                                  llvm::ArrayRef<unsigned> size_per_thread,
                                                  llvm::ArrayRef<unsigned> order, unsigned num_warps,
                                                  unsigned threads_per_warp) {
  size_t rank = shape.size();
  llvm::SmallVector<unsigned> lanes(rank, 1), warps(rank, 1);
  unsigned lanes_left = threads_per_warp, warps_left = num_warps;
  for (unsigned i = 0; i < rank; ++i) {
    unsigned d = order[i];
    bool last = i + 1 == rank;
    unsigned threads = std::max<int64_t>(1, shape[d] / size_per_thread[d]);
    lanes[d] = last ? lanes_left : std::min(lanes_left, threads);
    lanes_left /= lanes[d];
    warps[d] = last ? warps_left : std::min(warps_left, std::max(1u, threads / lanes[d]));
    warps_left /= warps[d];
  }
  return get(context, size_per_thread, lanes, warps, order);
}

Attribute TransEncoding(Attribute src, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order) {
  if (auto blocked = llvm::dyn_cast<BlockedEncodingAttr>(src)) {
    auto permute = [&](llvm::ArrayRef<unsigned> values) {
      llvm::SmallVector<unsigned> result;
      for (int32_t dim : order) result.push_back(values[dim]);
      return result;
    };
    llvm::SmallVector<int32_t> inverse = Inverse(order);
    llvm::SmallVector<unsigned> fastest;
    for (unsigned dim : blocked.getOrder()) fastest.push_back(inverse[dim]);
    return BlockedEncodingAttr::get(src.getContext(), permute(blocked.getSizePerThread()),
                                    permute(blocked.getThreadsPerWarp()), permute(blocked.getWarpsPerCTA()), fastest);
  }
  LinearLayout layout = LayoutOf(src, shape);
  auto names = DimNames(order.size());
  llvm::SmallVector<absl::string_view> permuted;
  for (int32_t dim : order) permuted.push_back(names[dim]);
  return Linear(layout.TransposeOuts(permuted).RenameOuts(Views(names)), src.getContext());
}

Attribute ReshapeEncoding(Attribute src, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> result) {
  // Row-major: the last dimension is the least significant, and a layout's first dimension is.
  auto from = DimNames(shape.size()), to = DimNames(result.size());
  llvm::SmallVector<absl::string_view> reversed(from.rbegin(), from.rend());
  std::vector<DimSize> sizes;
  for (size_t i = result.size(); i-- > 0;) sizes.push_back({to[i], static_cast<int32_t>(result[i])});
  LinearLayout layout = LayoutOf(src, shape).TransposeOuts(reversed).ReshapeOuts(sizes).TransposeOuts(Views(to));
  return Linear(layout, src.getContext());
}

Attribute JoinEncoding(Attribute src, llvm::ArrayRef<int64_t> shape) {
  // The new last dimension is the fastest register bit.
  auto names = DimNames(shape.size() + 1);
  LinearLayout pair = LinearLayout::Identity1D(2, "register", names.back());
  LinearLayout layout = pair * LayoutOf(src, shape);
  return Linear(layout.TransposeOuts(Views(names)), src.getContext());
}

Attribute SplitEncoding(Attribute src, llvm::ArrayRef<int64_t> shape) {
  // Only where each thread holds both halves: one register bit, and no other, reaches the last dimension.
  LinearLayout layout = LayoutOf(src, shape);
  auto names = DimNames(shape.size());
  absl::string_view last = names.back();
  int bit = -1;
  for (const auto& in : layout.InDims()) {
    for (int b = 0; b < in.bits; ++b) {
      if (layout.Basis(in.name, b, last) == 0) continue;
      auto basis = layout.Basis(in.name, b);
      bool alone = std::all_of(basis.begin(), basis.end() - 1, [](int32_t c) { return c == 0; });
      if (in.name != "register" || bit >= 0 || !alone) return {};
      bit = b;
    }
  }
  if (bit < 0) return {};
  auto columns = layout.columns();
  columns.erase(columns.begin() + layout.In("register").shift + bit);
  LinearLayout::Dims ins = layout.InDims();
  for (auto& in : ins)
    if (in.name == "register") --in.bits;
  LinearLayout rest = LinearLayout::FromColumns(ins, layout.OutDims(), columns);
  auto kept = Views(names);
  kept.pop_back();
  return Linear(rest.Sublayout(rest.InNames(), kept), src.getContext());
}

Attribute OperandEncodingFor(mlir::Operation* op, Attribute result) {
  return llvm::TypeSwitch<mlir::Operation*, Attribute>(op)
      .Case([&](tt::ExpandDimsOp expand) -> Attribute {
        return SliceEncodingAttr::get(op->getContext(), expand.getAxis(), llvm::cast<DistributedEncoding>(result));
      })
      .Case([&](tt::ReduceOp reduce) -> Attribute {
        auto slice = llvm::dyn_cast<SliceEncodingAttr>(result);
        return slice && slice.getDim() == reduce.getAxis() ? Attribute(slice.getParent()) : Attribute();
      })
      .Case([&](tt::TransOp trans) { return TransEncoding(result, ShapeOf(trans), Inverse(trans.getOrder())); })
      .Case([&](tt::ReshapeOp reshape) { return ReshapeEncoding(result, ShapeOf(reshape), ShapeOf(reshape.getSrc())); })
      .Case([&](tt::JoinOp join) { return SplitEncoding(result, ShapeOf(join)); })
      .Case([&](tt::SplitOp split) { return JoinEncoding(result, ShapeOf(split.getOutLHS())); })
      .Default([&](mlir::Operation*) { return KeepsEncoding(op) ? result : Attribute(); });
}

Attribute ResultEncodingFor(mlir::Operation* op, Attribute operand) {
  return llvm::TypeSwitch<mlir::Operation*, Attribute>(op)
      .Case([&](tt::ExpandDimsOp expand) -> Attribute {
        auto slice = llvm::dyn_cast<SliceEncodingAttr>(operand);
        return slice && slice.getDim() == expand.getAxis() ? Attribute(slice.getParent()) : Attribute();
      })
      .Case([&](tt::ReduceOp reduce) -> Attribute {
        if (reduce.InputType().getRank() == 1) return Attribute();
        return SliceEncodingAttr::get(op->getContext(), reduce.getAxis(), llvm::cast<DistributedEncoding>(operand));
      })
      .Case([&](tt::TransOp trans) { return TransEncoding(operand, ShapeOf(trans.getSrc()), trans.getOrder()); })
      .Case(
          [&](tt::ReshapeOp reshape) { return ReshapeEncoding(operand, ShapeOf(reshape.getSrc()), ShapeOf(reshape)); })
      .Case([&](tt::JoinOp join) { return JoinEncoding(operand, ShapeOf(join.getLhs())); })
      .Case([&](tt::SplitOp split) { return SplitEncoding(operand, ShapeOf(split.getSrc())); })
      .Default([&](mlir::Operation*) { return KeepsEncoding(op) ? operand : Attribute(); });
}

}  // namespace tritond::ttg
