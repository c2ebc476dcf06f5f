// SPDX-License-Identifier: Apache-2.0
// The operations of LinearLayout that rearrange its dimensions: products, selections, permutations, reshapes.
//
// A column holds the coordinates of all outputs side by side, so a reshape changes the description of the dimensions
// and leaves the matrix alone. Whatever moves or resizes an output repacks each column.

#include <algorithm>

#include "compiler/layout/check.h"
#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {
namespace {

using Dims = LinearLayout::Dims;
using Columns = LinearLayout::Columns;

int32_t CheckedLog2(int32_t size) {
  Check(size > 0 && (size & (size - 1)) == 0, "size ", size, " is no power of two");
  return __builtin_ctz(size);
}

bool Contains(DimNames names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Appends a dimension after those in `dims`.
void Append(Dims& dims, absl::string_view name, int32_t bits) {
  const int32_t shift = dims.empty() ? 0 : dims.back().shift + dims.back().bits;
  dims.push_back({std::string(name), bits, shift});
}

LayoutDim* Find(Dims& dims, absl::string_view name) {
  for (LayoutDim& dim : dims) {
    if (dim.name == name) return &dim;
  }
  return nullptr;
}

// Moves the coordinate at `from` to `to`, modulo the size of `to`.
uint64_t Move(uint64_t column, const LayoutDim& from, const LayoutDim& to) {
  return (((column >> from.shift) & from.mask()) & to.mask()) << to.shift;
}

Dims Reshaped(absl::Span<const DimSize> sizes, int32_t total_bits) {
  Dims dims;
  int32_t bits = 0;
  for (const DimSize& size : sizes) {
    dims.push_back({size.name, CheckedLog2(size.size)});
    bits += dims.back().bits;
  }
  Check(bits == total_bits, "a reshape of ", total_bits, " bits to ", bits);
  return dims;
}

Dims Renamed(Dims dims, DimNames names) {
  Check(names.size() == dims.size(), "got ", names.size(), " names for ", dims.size(), " dimensions");
  for (size_t i = 0; i < names.size(); ++i) dims[i].name = std::string(names[i]);
  return dims;
}

// The dimensions of `inner` stacked with those of `outer`, placed; and where each part goes.
struct Stacked {
  Dims dims;
  Dims inner;  // as given, with shifts into `dims`
  Dims outer;
};

Stacked Stack(const Dims& inner, const Dims& outer) {
  Stacked result{inner, inner, outer};
  for (const LayoutDim& dim : outer) {
    if (LayoutDim* known = Find(result.dims, dim.name)) {
      known->bits += dim.bits;
    } else {
      result.dims.push_back(dim);
    }
  }
  int32_t shift = 0;
  for (LayoutDim& dim : result.dims) {
    dim.shift = shift;
    shift += dim.bits;
  }
  for (size_t i = 0; i < inner.size(); ++i) result.inner[i].shift = result.dims[i].shift;
  for (LayoutDim& dim : result.outer) {
    const LayoutDim* whole = Find(result.dims, dim.name);
    dim.shift = whole->shift + whole->bits - dim.bits;
  }
  return result;
}

// Writes the columns of one factor of a product to their places.
void PlaceFactor(const LinearLayout& factor, const Dims& ins, const Dims& outs, Columns& columns) {
  for (size_t i = 0; i < ins.size(); ++i) {
    const LayoutDim& from = factor.InDims()[i];
    for (int32_t bit = 0; bit < from.bits; ++bit) {
      const uint64_t column = factor.columns()[from.shift + bit];
      uint64_t moved = 0;
      for (size_t j = 0; j < outs.size(); ++j) moved |= Move(column, factor.OutDims()[j], outs[j]);
      columns[ins[i].shift + bit] = moved;
    }
  }
}

}  // namespace

LinearLayout operator*(const LinearLayout& inner, const LinearLayout& outer) {
  Stacked ins = Stack(inner.InDims(), outer.InDims());
  Stacked outs = Stack(inner.OutDims(), outer.OutDims());
  Columns columns(inner.columns().size() + outer.columns().size());
  PlaceFactor(inner, ins.inner, outs.inner, columns);
  PlaceFactor(outer, ins.outer, outs.outer, columns);
  return LinearLayout::FromColumns(std::move(ins.dims), std::move(outs.dims), std::move(columns));
}

LinearLayout LinearLayout::Sublayout(DimNames ins, DimNames outs) const {
  for (absl::string_view name : ins) In(name);
  for (absl::string_view name : outs) Out(name);
  absl::InlinedVector<const LayoutDim*, 4> kept;
  Dims out_dims;
  for (const LayoutDim& dim : OutDims()) {
    if (!Contains(outs, dim.name)) continue;
    kept.push_back(&dim);
    Append(out_dims, dim.name, dim.bits);
  }
  Dims in_dims;
  Columns result;
  for (const LayoutDim& dim : InDims()) {
    if (!Contains(ins, dim.name)) continue;
    in_dims.push_back(dim);
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      uint64_t column = 0;
      for (size_t i = 0; i < kept.size(); ++i) column |= Move(columns()[dim.shift + bit], *kept[i], out_dims[i]);
      result.push_back(column);
    }
  }
  return FromColumns(std::move(in_dims), std::move(out_dims), std::move(result));
}

LinearLayout LinearLayout::TransposeIns(DimNames names) const {
  Check(names.size() == InDims().size(), "got ", names.size(), " names for ", InDims().size(), " inputs");
  Dims dims;
  Columns result;
  for (absl::string_view name : names) {
    const LayoutDim& dim = In(name);
    dims.push_back(dim);
    result.insert(result.end(), columns().begin() + dim.shift, columns().begin() + dim.shift + dim.bits);
  }
  return FromColumns(std::move(dims), OutDims(), std::move(result));
}

LinearLayout LinearLayout::TransposeOuts(DimNames names) const {
  Check(names.size() == OutDims().size(), "got ", names.size(), " names for ", OutDims().size(), " outputs");
  Dims dims;
  for (absl::string_view name : names) Append(dims, name, OutBits(name));
  Columns result;
  for (uint64_t column : columns()) {
    uint64_t moved = 0;
    for (const LayoutDim& dim : dims) moved |= Move(column, Out(dim.name), dim);
    result.push_back(moved);
  }
  return FromColumns(InDims(), std::move(dims), std::move(result));
}

LinearLayout LinearLayout::RenameIns(DimNames names) const {
  return FromColumns(Renamed(InDims(), names), OutDims(), columns());
}

LinearLayout LinearLayout::RenameOuts(DimNames names) const {
  return FromColumns(InDims(), Renamed(OutDims(), names), columns());
}

LinearLayout LinearLayout::ReshapeIns(absl::Span<const DimSize> dims) const {
  return FromColumns(Reshaped(dims, TotalInBits()), OutDims(), columns());
}

LinearLayout LinearLayout::ReshapeOuts(absl::Span<const DimSize> dims) const {
  return FromColumns(InDims(), Reshaped(dims, TotalOutBits()), columns());
}

LinearLayout LinearLayout::FlattenIns(absl::string_view name) const {
  Check(!InDims().empty(), "no inputs to flatten");
  return FromColumns({{name.empty() ? InDims()[0].name : std::string(name), TotalInBits()}}, OutDims(), columns());
}

LinearLayout LinearLayout::FlattenOuts(absl::string_view name) const {
  Check(!OutDims().empty(), "no outputs to flatten");
  return FromColumns(InDims(), {{name.empty() ? OutDims()[0].name : std::string(name), TotalOutBits()}}, columns());
}

LinearLayout LinearLayout::RemoveZeroBases(absl::string_view in) const {
  Check(HasIn(in), "no input ", in);
  Dims dims = InDims();
  Columns result;
  for (LayoutDim& dim : dims) {
    const int32_t bits = dim.bits;
    for (int32_t bit = 0; bit < bits; ++bit) {
      const uint64_t column = columns()[dim.shift + bit];
      if (dim.name == in && column == 0) {
        --dim.bits;
      } else {
        result.push_back(column);
      }
    }
  }
  return FromColumns(std::move(dims), OutDims(), std::move(result));
}

LinearLayout LinearLayout::ResizeIn(absl::string_view name, int32_t size) const {
  Check(HasIn(name), "no input ", name);
  Dims dims = InDims();
  Columns result;
  for (LayoutDim& dim : dims) {
    const int32_t bits = dim.name == name ? CheckedLog2(size) : dim.bits;
    for (int32_t bit = 0; bit < bits; ++bit) result.push_back(bit < dim.bits ? columns()[dim.shift + bit] : 0);
    dim.bits = bits;
  }
  return FromColumns(std::move(dims), OutDims(), std::move(result));
}

LinearLayout LinearLayout::ResizeOut(absl::string_view name, int32_t size) const {
  Check(HasOut(name), "no output ", name);
  Dims dims;
  for (const LayoutDim& dim : OutDims()) Append(dims, dim.name, dim.name == name ? CheckedLog2(size) : dim.bits);
  Columns result;
  for (uint64_t column : columns()) {
    uint64_t moved = 0;
    for (size_t i = 0; i < dims.size(); ++i) moved |= Move(column, OutDims()[i], dims[i]);
    result.push_back(moved);
  }
  return FromColumns(InDims(), std::move(dims), std::move(result));
}

}  // namespace tritond::compiler
