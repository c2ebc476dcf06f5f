// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/layout_algebra.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/layout/check.h"
#include "compiler/layout/f2_span.h"

namespace tritond::compiler {
namespace {

using Dims = LinearLayout::Dims;
using Columns = LinearLayout::Columns;

const LayoutDim* Find(const Dims& dims, absl::string_view name) {
  for (const LayoutDim& dim : dims) {
    if (dim.name == name) return &dim;
  }
  return nullptr;
}

// The columns of `layout` with its outputs placed as in `places`, which has at least their size.
Columns Repack(const LinearLayout& layout, const Dims& places) {
  Check(layout.OutDims().size() == places.size(), layout.OutDims().size(), " outputs for ", places.size(), " inputs");
  Columns result(layout.columns().size(), 0);
  for (const LayoutDim& place : places) {
    const LayoutDim& dim = layout.Out(place.name);
    Check(dim.bits <= place.bits, "dimension ", dim.name, " of ", dim.bits, " bits into ", place.bits);
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] |= ((layout.columns()[i] >> dim.shift) & dim.mask()) << place.shift;
    }
  }
  return result;
}

// The dimensions of `whole` less those of `divisor`; nullopt when one is too small or missing.
std::optional<Dims> Subtract(const Dims& whole, const Dims& divisor) {
  Dims rest = whole;
  for (const LayoutDim& dim : divisor) {
    auto it = std::find_if(rest.begin(), rest.end(), [&](const LayoutDim& d) { return d.name == dim.name; });
    if (it == rest.end() || it->bits < dim.bits) return std::nullopt;
    it->bits -= dim.bits;
  }
  return rest;
}

// The part of `layout` that is left when `divisor` holds the lowest (or highest) bits of its dimensions.
std::optional<LinearLayout> Divide(const LinearLayout& layout, const LinearLayout& divisor, bool left) {
  std::optional<Dims> ins = Subtract(layout.InDims(), divisor.InDims());
  std::optional<Dims> outs = Subtract(layout.OutDims(), divisor.OutDims());
  if (!ins.has_value() || !outs.has_value()) return std::nullopt;
  Columns columns;
  for (size_t i = 0; i < ins->size(); ++i) {
    const LayoutDim& whole = layout.InDims()[i];
    const int32_t skipped = left ? whole.bits - (*ins)[i].bits : 0;
    for (int32_t bit = 0; bit < (*ins)[i].bits; ++bit) {
      const uint64_t from = layout.columns()[whole.shift + skipped + bit];
      uint64_t to = 0;
      int32_t shift = 0;
      for (size_t j = 0; j < outs->size(); ++j) {
        const LayoutDim& out = layout.OutDims()[j];
        const int32_t out_skipped = left ? out.bits - (*outs)[j].bits : 0;
        to |= ((from >> (out.shift + out_skipped)) & (*outs)[j].mask()) << shift;
        shift += (*outs)[j].bits;
      }
      columns.push_back(to);
    }
  }
  LinearLayout rest = LinearLayout::FromColumns(std::move(*ins), std::move(*outs), std::move(columns));
  // The cut is right only when the product gives the layout again; the order of its dimensions is not at stake.
  LinearLayout product = left ? divisor * rest : rest * divisor;
  if (product.TransposeIns(layout.InNames()).TransposeOuts(layout.OutNames()) != layout) return std::nullopt;
  return rest;
}

}  // namespace

LinearLayout Compose(const LinearLayout& outer, const LinearLayout& inner) {
  Columns columns = Repack(inner, outer.InDims());
  for (uint64_t& column : columns) column = outer.ApplyFlat(column);
  return LinearLayout::FromColumns(inner.InDims(), outer.OutDims(), std::move(columns));
}

absl::StatusOr<LinearLayout> Invert(const LinearLayout& layout) {
  if (!layout.IsInjective()) return absl::FailedPreconditionError(absl::StrCat("not injective: ", layout.ToString()));
  return PseudoInvert(layout);
}

absl::StatusOr<LinearLayout> PseudoInvert(const LinearLayout& layout) {
  const F2Span span(layout.columns());
  if (span.rank() != layout.TotalOutBits()) {
    return absl::FailedPreconditionError(absl::StrCat("not surjective: ", layout.ToString()));
  }
  Columns columns;
  for (int32_t i = 0; i < layout.TotalOutBits(); ++i) columns.push_back(*span.Solve(uint64_t{1} << i));
  return LinearLayout::FromColumns(layout.OutDims(), layout.InDims(), std::move(columns));
}

absl::StatusOr<LinearLayout> InvertAndCompose(const LinearLayout& layout, const LinearLayout& outer) {
  // Both sides are packed into dimensions that hold the larger of their sizes.
  Dims places = outer.OutDims();
  int32_t shift = 0;
  for (LayoutDim& place : places) {
    place.bits = std::max(place.bits, layout.OutBits(place.name));
    place.shift = shift;
    shift += place.bits;
  }
  const F2Span span(Repack(outer, places));
  Columns columns = Repack(layout, places);
  for (uint64_t& column : columns) {
    const std::optional<uint64_t> preimage = span.Solve(column);
    if (!preimage.has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the image of ", outer.ToString(), " does not hold that of ", layout.ToString()));
    }
    column = *preimage;
  }
  return LinearLayout::FromColumns(layout.InDims(), outer.InDims(), std::move(columns));
}

std::optional<LinearLayout> Quotient(const LinearLayout& layout, DimNames dims) {
  if (!layout.IsTrivialOver(dims)) return std::nullopt;
  const auto kept = [&](const Dims& all) {
    absl::InlinedVector<absl::string_view, 4> names;
    for (const LayoutDim& dim : all) {
      if (std::find(dims.begin(), dims.end(), dim.name) == dims.end()) names.push_back(dim.name);
    }
    return names;
  };
  return layout.Sublayout(kept(layout.InDims()), kept(layout.OutDims()));
}

std::optional<LinearLayout> DivideLeft(const LinearLayout& layout, const LinearLayout& divisor) {
  return Divide(layout, divisor, /*left=*/true);
}

std::optional<LinearLayout> DivideRight(const LinearLayout& layout, const LinearLayout& divisor) {
  return Divide(layout, divisor, /*left=*/false);
}

LinearLayout EnsureNotLargerThan(const LinearLayout& layout, absl::Span<const DimSize> sizes) {
  LinearLayout result = layout;
  for (const DimSize& size : sizes) {
    const LayoutDim* dim = Find(result.OutDims(), size.name);
    Check(dim != nullptr, "no output ", size.name);
    if (dim->size() <= size.size) continue;
    const uint64_t outside = dim->mask() & ~(static_cast<uint64_t>(size.size) - 1);
    Columns cleared = result.columns();
    for (uint64_t& column : cleared) {
      if (((column >> dim->shift) & outside) != 0) column &= ~(dim->mask() << dim->shift);
    }
    const LinearLayout zeroed = LinearLayout::FromColumns(result.InDims(), result.OutDims(), std::move(cleared))
                                    .ResizeOut(size.name, size.size);
    const LinearLayout wrapped = result.ResizeOut(size.name, size.size);
    result = zeroed.Rank() == wrapped.Rank() ? zeroed : wrapped;
  }
  return result;
}

LinearLayout EnsureNotSmallerThan(const LinearLayout& layout, absl::Span<const DimSize> sizes, absl::string_view in) {
  LinearLayout result = layout;
  for (const DimSize& size : sizes) {
    const int32_t actual = result.OutSize(size.name);
    if (actual < size.size) result *= LinearLayout::Identity1D(size.size / actual, in, size.name);
  }
  return result;
}

}  // namespace tritond::compiler
