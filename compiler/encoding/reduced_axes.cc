// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/reduced_axes.h"

#include <algorithm>
#include <numeric>

#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

// Neighbours that are reduced to one number, where that is more than an exchange between two lanes, as in a sort.
constexpr int64_t kLeastGroup = 8;

ReducedAxes::Shape ShapeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape().vec();
}

int64_t SizeBelow(const ReducedAxes::Shape& shape, unsigned dim) {
  return std::accumulate(shape.begin() + dim + 1, shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

ReducedAxes::ReducedAxes(tt::FuncOp func) {
  func.walk([&](tt::ScanOp scan) { scans_[ShapeOf(scan.getSrcs()[0])].push_back(scan); });
  func.walk([&](tt::ReduceOp reduce) { AddReduced(ShapeOf(reduce.getSrcs()[0]), reduce.getAxis()); });
  std::set<std::pair<Shape, Shape>> reshaped;
  func.walk([&](tt::ReshapeOp reshape) {
    auto found = reduced_.find(ShapeOf(reshape.getResult()));
    if (found == reduced_.end() || reshape.getAllowReorder()) return;
    for (unsigned axis : std::set<unsigned>(found->second))
      AddReshaped(ShapeOf(reshape.getSrc()), ShapeOf(reshape.getResult()), axis);
    if (reshaped.insert({ShapeOf(reshape.getSrc()), ShapeOf(reshape.getResult())}).second)
      AddExchanges(ShapeOf(reshape.getSrc()), ShapeOf(reshape.getResult()));
  });
}

std::optional<unsigned> ReducedAxes::ScannedAcross(const Shape& shape, unsigned fast) const {
  auto found = scans_.find(shape);
  if (found == scans_.end()) return std::nullopt;
  for (tt::ScanOp scan : found->second)
    if (scan.getAxis() != fast) return scan.getAxis();
  return std::nullopt;
}

llvm::SmallVector<tt::ScanOp> ReducedAxes::ScansAlong(const Shape& shape, unsigned axis) const {
  llvm::SmallVector<tt::ScanOp> along;
  if (auto found = scans_.find(shape); found != scans_.end())
    llvm::copy_if(found->second, std::back_inserter(along), [&](tt::ScanOp scan) { return scan.getAxis() == axis; });
  return along;
}

void ReducedAxes::PutReducedLast(const Shape& shape, llvm::SmallVectorImpl<unsigned>& order, int from) const {
  auto found = reduced_.find(shape);
  if (found == reduced_.end()) return;
  std::stable_partition(order.begin() + from, order.end(), [&](unsigned dim) { return found->second.count(dim) == 0; });
}

int64_t ReducedAxes::NeighboursOfGroup(const Shape& shape, int64_t most, int lanes) const {
  auto found = groups_.find(shape);
  if (found == groups_.end() || found->second < kLeastGroup || found->second > lanes) return 1;
  return std::min(found->second, most);
}

llvm::ArrayRef<int64_t> ReducedAxes::ExchangesOf(const Shape& shape) const {
  auto found = exchanges_.find(shape);
  return found != exchanges_.end() ? llvm::ArrayRef<int64_t>(found->second) : llvm::ArrayRef<int64_t>();
}

void ReducedAxes::AddReduced(const Shape& shape, unsigned axis) {
  ++reductions_[{shape, axis}];
  reduced_[shape].insert(axis);
  if (axis + 1 == shape.size()) AddGroup(shape, shape[axis]);
}

void ReducedAxes::AddGroup(const Shape& shape, int64_t group) {
  auto [entry, is_new] = groups_.try_emplace(shape, group);
  entry->second = std::min(entry->second, group);
}

// The pairs of `to` as pairs of `from`, of which it is a reshape.
void ReducedAxes::AddExchanges(const Shape& from, const Shape& to) {
  for (unsigned axis = 0; axis < to.size(); ++axis) {
    auto found = reductions_.find({to, axis});
    const int64_t distance = SizeBelow(to, axis);
    if (found == reductions_.end() || to[axis] != 2 || from.empty() || 2 * distance > from.back()) continue;
    std::vector<int64_t>& times = exchanges_[from];
    times.resize(llvm::Log2_64(from.back()));
    times[llvm::Log2_64(distance)] += found->second;
  }
}

// `from` is reshaped to `to`, which is reduced along `axis`. Dimensions of `from` that lie within that one are reduced
// with it.
void ReducedAxes::AddReshaped(const Shape& from, const Shape& to, unsigned axis) {
  const int64_t begin = SizeBelow(to, axis), end = begin * to[axis];
  for (unsigned dim = 0; dim < from.size(); ++dim) {
    const int64_t below = SizeBelow(from, dim);
    if (from[dim] > 1 && below >= begin && below * from[dim] <= end) reduced_[from].insert(dim);
  }
  if (begin == 1 && !from.empty()) AddGroup(from, std::min(from.back(), end));
}

}  // namespace tritond::compiler
