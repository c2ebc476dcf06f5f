// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/distributed_pair.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

absl::StatusOr<LinearLayout> WithHardwareDims(const LinearLayout& layout) {
  for (const LayoutDim& dim : layout.InDims()) {
    if (std::find(std::begin(kHardwareDims), std::end(kHardwareDims), dim.name) == std::end(kHardwareDims)) {
      return absl::InvalidArgumentError(absl::StrCat("a distributed layout has no input ", dim.name));
    }
  }
  LinearLayout::Dims dims;
  LinearLayout::Columns columns;
  for (absl::string_view name : kHardwareDims) {
    dims.push_back({std::string(name), 0});
    if (!layout.HasIn(name)) continue;
    const LayoutDim& dim = layout.In(name);
    dims.back().bits = dim.bits;
    columns.insert(columns.end(), layout.columns().begin() + dim.shift,
                   layout.columns().begin() + dim.shift + dim.bits);
  }
  return LinearLayout::FromColumns(std::move(dims), layout.OutDims(), std::move(columns));
}

}  // namespace

absl::StatusOr<DistributedPair> MakeDistributedPair(const LinearLayout& src, const LinearLayout& dst) {
  absl::StatusOr<LinearLayout> from = WithHardwareDims(src);
  if (!from.ok()) return from.status();
  absl::StatusOr<LinearLayout> to = WithHardwareDims(dst);
  if (!to.ok()) return to.status();
  bool same_shape = src.OutDims().size() == dst.OutDims().size();
  for (const LayoutDim& dim : src.OutDims()) {
    same_shape = same_shape && dst.HasOut(dim.name) && dst.OutBits(dim.name) == dim.bits;
  }
  if (!same_shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts of different tensors: ", src.ToString(), " and ", dst.ToString()));
  }
  for (absl::string_view name : {"lane", "warp", "block"}) {
    if (from->InBits(name) != to->InBits(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("layouts with ", from->InSize(name), " and ", to->InSize(name), " in ", name));
    }
  }
  return DistributedPair{*std::move(from), to->TransposeOuts(src.OutNames())};
}

}  // namespace tritond::compiler
