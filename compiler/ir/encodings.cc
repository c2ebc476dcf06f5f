// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/encodings.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/layout/f2_span.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
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

int NumWarps(mlir::Operation* op) {
  if (auto warps = PartitionWarps(op->getParentRegion())) return *warps;
  return ModuleInt(op, kNumWarpsAttr, 4);
}
int ThreadsPerWarp(mlir::Operation* op) { return ModuleInt(op, kThreadsPerWarpAttr, 32); }

llvm::SmallVector<std::string> DimNames(unsigned rank) {
  llvm::SmallVector<std::string> names;
  for (unsigned dim = 0; dim < rank; ++dim) names.push_back("dim" + std::to_string(dim));
  return names;
}

LinearLayout ToLinearLayout(RankedTensorType type) { return LayoutOf(type.getEncoding(), type.getShape()); }

LinearLayout ToLinearLayout(MemDescType type) {
  auto encoding = llvm::cast<SharedEncoding>(type.getEncoding());
  llvm::ArrayRef<int64_t> shape = type.getAllocShape().take_back(type.getShape().size());
  if (shape.size() == encoding.Rank()) return encoding.ToLinearLayout(shape);
  auto names = DimNames(shape.size());
  auto all = Views(names);
  LinearLayout one = encoding.ToLinearLayout(shape.drop_front()).RenameOuts(llvm::ArrayRef(all).drop_front());
  auto count = static_cast<int32_t>(llvm::PowerOf2Ceil(shape[0]));
  return (one * LinearLayout::Identity1D(count, "offset", names[0])).TransposeOuts(all);
}

bool HasAllocShape(MemDescType type) {
  return type.getShape() == type.getAllocShape().take_back(type.getShape().size());
}

llvm::ArrayRef<Padding> PaddingOf(MemDescType type) {
  auto padded = llvm::dyn_cast<PaddedSharedEncodingAttr>(type.getEncoding());
  return padded ? padded.getPadding() : llvm::ArrayRef<Padding>();
}

int64_t PaddedOffset(int64_t offset, llvm::ArrayRef<Padding> padding) {
  int64_t gaps = 0;
  for (const Padding& gap : padding) gaps += offset / gap.interval * gap.elements;
  return offset + gaps;
}

int64_t BufferElements(MemDescType type) {
  auto encoding = llvm::cast<SharedEncoding>(type.getEncoding());
  llvm::ArrayRef<int64_t> shape = type.getAllocShape().take_back(type.getShape().size());
  size_t rank = encoding.Rank();
  int64_t elements = encoding.ToLinearLayout(shape.take_back(rank)).InSize("offset");
  return Product(shape.drop_back(rank)) * elements;
}

int64_t BufferBits(MemDescType type) {
  mlir::Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64;
  return (PaddedOffset(BufferElements(type) - 1, PaddingOf(type)) + 1) * bits;
}

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

bool IsPermutation(llvm::ArrayRef<int32_t> order, size_t rank) {
  llvm::SmallVector<int32_t> sorted(order);
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted))
    if (dim != static_cast<int32_t>(i)) return false;
  return order.size() == rank;
}

LinearLayout ReshapeRowMajor(const LinearLayout& layout, llvm::ArrayRef<int64_t> shape) {
  // Row-major: the last dimension is the least significant, and a layout's first dimension is.
  auto from = DimNames(layout.OutDims().size()), to = DimNames(shape.size());
  llvm::SmallVector<absl::string_view> reversed(from.rbegin(), from.rend());
  std::vector<DimSize> sizes;
  for (size_t i = shape.size(); i-- > 0;) sizes.push_back({to[i], static_cast<int32_t>(shape[i])});
  return layout.TransposeOuts(reversed).ReshapeOuts(sizes).TransposeOuts(Views(to));
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
    auto names = DimNames(order.size());
    llvm::SmallVector<absl::string_view> dims;
    for (int32_t dim : order) dims.push_back(names[dim]);
    return BlockedEncodingAttr::get(src.getContext(), permute(blocked.getSizePerThread()),
                                    permute(blocked.getThreadsPerWarp()), permute(blocked.getWarpsPerCTA()), fastest,
                                    blocked.getCga().TransposeOuts(dims).RenameOuts(Views(names)));
  }
  LinearLayout layout = LayoutOf(src, shape);
  auto names = DimNames(order.size());
  llvm::SmallVector<absl::string_view> permuted;
  for (int32_t dim : order) permuted.push_back(names[dim]);
  return Linear(layout.TransposeOuts(permuted).RenameOuts(Views(names)), src.getContext());
}

Attribute ReshapeEncoding(Attribute src, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> result) {
  return Linear(ReshapeRowMajor(LayoutOf(src, shape), result), src.getContext());
}

Attribute JoinEncoding(Attribute src, llvm::ArrayRef<int64_t> shape) {
  // The new last dimension is the fastest register bit.
  auto names = DimNames(shape.size() + 1);
  LinearLayout pair = LinearLayout::Identity1D(2, "register", names.back());
  LinearLayout layout = pair * LayoutOf(src, shape);
  return Linear(layout.TransposeOuts(Views(names)), src.getContext());
}

// Which register bit tells the two elements of a pair, the last dimension, apart. JoinEncoding makes it the first.
enum class PairBit { kFirst, kAny };

// Null where not one register bit, and no other bit, reaches the last dimension, or another one than `pair` says.
static Attribute SplitEncoding(Attribute src, llvm::ArrayRef<int64_t> shape, PairBit pair) {
  LinearLayout layout = LayoutOf(src, shape);
  auto names = DimNames(shape.size());
  absl::string_view last = names.back();
  int bit = -1;
  for (const auto& in : layout.InDims()) {
    for (int b = 0; b < in.bits; ++b) {
      if (layout.Basis(in.name, b, last) == 0) continue;
      auto basis = layout.Basis(in.name, b);
      bool alone = std::all_of(basis.begin(), basis.end() - 1, [](int32_t c) { return c == 0; });
      if (in.name != "register" || !alone || bit >= 0 || (pair == PairBit::kFirst && b != 0)) return {};
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

Attribute SplitEncoding(Attribute src, llvm::ArrayRef<int64_t> shape) {
  return SplitEncoding(src, shape, PairBit::kAny);
}

Attribute Fp4ToFpEncoding(Attribute src, llvm::ArrayRef<int64_t> shape, unsigned axis) {
  auto names = DimNames(shape.size());
  LinearLayout layout = LinearLayout::Identity1D(2, "register", names[axis]) * LayoutOf(src, shape);
  return Linear(layout.TransposeOuts(Views(names)), src.getContext());
}

Attribute Fp4FromFpEncoding(Attribute dst, llvm::ArrayRef<int64_t> shape, unsigned axis) {
  if (shape[axis] < 2) return {};
  // The halves of a byte as a dimension of their own, the last one.
  llvm::SmallVector<int64_t> pairs(shape);
  pairs[axis] /= 2;
  pairs.insert(pairs.begin() + axis + 1, 2);
  auto order = llvm::to_vector(llvm::seq<int32_t>(0, pairs.size()));
  order.erase(order.begin() + axis + 1);
  order.push_back(axis + 1);
  Attribute split = TransEncoding(ReshapeEncoding(dst, shape, pairs), pairs, order);
  pairs.erase(pairs.begin() + axis + 1);
  pairs.push_back(2);
  return SplitEncoding(split, pairs, PairBit::kFirst);
}

bool IsFp4ToFpEncoding(Attribute src, Attribute dst, llvm::ArrayRef<int64_t> shape, unsigned axis) {
  llvm::SmallVector<int64_t> unpacked(shape);
  unpacked[axis] *= 2;
  LinearLayout expected = LayoutOf(Fp4ToFpEncoding(src, shape, axis), unpacked), actual = LayoutOf(dst, unpacked);
  llvm::SmallVector<absl::string_view> threads{"lane", "warp", "block"};
  auto names = DimNames(shape.size());
  if (expected.Sublayout(threads, Views(names)) != actual.Sublayout(threads, Views(names))) return false;
  compiler::F2Span held;
  for (uint64_t column : expected.Sublayout({"register"}, Views(names)).columns()) held.Insert(column);
  for (uint64_t column : actual.Sublayout({"register"}, Views(names)).columns())
    if (!held.Contains(column)) return false;
  return true;
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
      .Case([&](tt::JoinOp join) { return SplitEncoding(result, ShapeOf(join), PairBit::kFirst); })
      .Case([&](tt::SplitOp split) { return JoinEncoding(result, ShapeOf(split.getOutLHS())); })
      .Case([&](Fp4ToFpOp unpack) { return Fp4FromFpEncoding(result, ShapeOf(unpack), unpack.getAxis()); })
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
      .Case([&](Fp4ToFpOp unpack) { return Fp4ToFpEncoding(operand, ShapeOf(unpack.getSrc()), unpack.getAxis()); })
      .Default([&](mlir::Operation*) { return KeepsEncoding(op) ? operand : Attribute(); });
}

}  // namespace tritond::ttg
