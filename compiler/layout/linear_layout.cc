// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/linear_layout.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/layout/check.h"
#include "compiler/layout/f2_span.h"

namespace tritond::compiler {
namespace {

constexpr int32_t kMaxDimBits = 30;
constexpr int32_t kMaxBits = 63;

// Logarithm of a power of two; nullopt for anything else, and for sizes above 2^30.
std::optional<int32_t> Log2(int64_t size) {
  if (size <= 0 || (size & (size - 1)) != 0 || size > (int64_t{1} << kMaxDimBits)) return std::nullopt;
  return __builtin_ctzll(static_cast<uint64_t>(size));
}

int32_t CheckedLog2(int32_t size) {
  const std::optional<int32_t> bits = Log2(size);
  Check(bits.has_value(), "size ", size, " is no power of two");
  return *bits;
}

const LayoutDim* Find(const LinearLayout::Dims& dims, absl::string_view name) {
  for (const LayoutDim& dim : dims) {
    if (dim.name == name) return &dim;
  }
  return nullptr;
}

int32_t TotalBits(const LinearLayout::Dims& dims) { return dims.empty() ? 0 : dims.back().shift + dims.back().bits; }

// Sets the shifts. False when a name repeats or the space is too large.
bool Place(LinearLayout::Dims& dims) {
  int32_t shift = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (dims[j].name == dims[i].name) return false;
    }
    dims[i].shift = shift;
    shift += dims[i].bits;
  }
  return shift <= kMaxBits;
}

Coordinates Unflatten(uint64_t flat, const LinearLayout::Dims& dims) {
  Coordinates result;
  for (const LayoutDim& dim : dims) result.push_back(static_cast<int32_t>((flat >> dim.shift) & dim.mask()));
  return result;
}

// The flattened image that a basis of one output dimension each stands for.
absl::StatusOr<uint64_t> PackBasis(const std::vector<int32_t>& basis, const LinearLayout::Dims& outs,
                                   absl::string_view where) {
  if (basis.size() != outs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, " has ", basis.size(), " coordinates, expected ", outs.size()));
  }
  uint64_t column = 0;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (basis[i] < 0 || basis[i] >= outs[i].size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": ", basis[i], " is outside of ", outs[i].name, " of size ", outs[i].size()));
    }
    column |= static_cast<uint64_t>(basis[i]) << outs[i].shift;
  }
  return column;
}

}  // namespace

LinearLayout::LinearLayout() : rep_(std::make_shared<const Rep>()) {}

LinearLayout LinearLayout::FromColumns(Dims ins, Dims outs, Columns columns) {
  Check(Place(ins), "input dimensions repeat or exceed ", kMaxBits, " bits");
  Check(Place(outs), "output dimensions repeat or exceed ", kMaxBits, " bits");
  Check(static_cast<int32_t>(columns.size()) == TotalBits(ins), "got ", columns.size(), " columns for ", TotalBits(ins),
        " input bits");
  for (uint64_t column : columns) {
    Check((column >> TotalBits(outs)) == 0, "column ", column, " exceeds ", TotalBits(outs), " output bits");
  }
  return LinearLayout(std::make_shared<const Rep>(Rep{std::move(ins), std::move(outs), std::move(columns)}));
}

LinearLayout LinearLayout::Identity1D(int32_t size, absl::string_view in, absl::string_view out) {
  return Strided1D(size, 1, in, out);
}

LinearLayout LinearLayout::Strided1D(int32_t size, int32_t stride, absl::string_view in, absl::string_view out) {
  const int32_t bits = CheckedLog2(size);
  const int32_t stride_bits = CheckedLog2(stride);
  Columns columns;
  for (int32_t bit = 0; bit < bits; ++bit) columns.push_back(uint64_t{1} << (bit + stride_bits));
  return FromColumns({{std::string(in), bits}}, {{std::string(out), bits + stride_bits}}, std::move(columns));
}

LinearLayout LinearLayout::Zeros1D(int32_t size, absl::string_view in, absl::string_view out, int32_t out_size) {
  const int32_t bits = CheckedLog2(size);
  return FromColumns({{std::string(in), bits}}, {{std::string(out), CheckedLog2(out_size)}}, Columns(bits, 0));
}

absl::StatusOr<LinearLayout> LinearLayout::FromBases(absl::Span<const InDimBases> ins, absl::Span<const DimSize> outs) {
  Dims out_dims;
  for (const DimSize& out : outs) {
    const std::optional<int32_t> bits = Log2(out.size);
    if (!bits.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("output dimension ", out.name, ": size ", out.size,
                                                     " is no power of two up to 2^", kMaxDimBits));
    }
    out_dims.push_back({out.name, *bits});
  }
  if (!Place(out_dims)) return absl::InvalidArgumentError("output dimensions repeat a name or are too large");

  Dims in_dims;
  for (const InDimBases& in : ins) {
    if (in.bases.size() > kMaxDimBits) {
      return absl::InvalidArgumentError(
          absl::StrCat("input dimension ", in.name, " has ", in.bases.size(), " bases, at most ", kMaxDimBits));
    }
    in_dims.push_back({in.name, static_cast<int32_t>(in.bases.size())});
  }
  if (!Place(in_dims)) return absl::InvalidArgumentError("input dimensions repeat a name or are too large");

  Columns columns;
  for (const InDimBases& in : ins) {
    for (size_t bit = 0; bit < in.bases.size(); ++bit) {
      absl::StatusOr<uint64_t> column =
          PackBasis(in.bases[bit], out_dims, absl::StrCat("basis ", bit, " of ", in.name));
      if (!column.ok()) return column.status();
      columns.push_back(*column);
    }
  }
  return FromColumns(std::move(in_dims), std::move(out_dims), std::move(columns));
}

absl::StatusOr<LinearLayout> LinearLayout::InferFromBases(absl::Span<const InDimBases> ins, DimNames outs) {
  std::vector<DimSize> sizes;
  for (size_t i = 0; i < outs.size(); ++i) {
    uint32_t used = 0;
    for (const InDimBases& in : ins) {
      for (const std::vector<int32_t>& basis : in.bases) {
        if (i < basis.size() && basis[i] > 0) used |= static_cast<uint32_t>(basis[i]);
      }
    }
    const int bits = used == 0 ? 0 : 32 - __builtin_clz(used);
    if (bits > kMaxDimBits) {
      return absl::InvalidArgumentError(absl::StrCat("a basis exceeds 2^", kMaxDimBits, " in ", outs[i]));
    }
    sizes.push_back({std::string(outs[i]), int32_t{1} << bits});
  }
  return FromBases(ins, sizes);
}

bool LinearLayout::HasIn(absl::string_view name) const { return Find(InDims(), name) != nullptr; }

bool LinearLayout::HasOut(absl::string_view name) const { return Find(OutDims(), name) != nullptr; }

absl::InlinedVector<absl::string_view, 4> LinearLayout::InNames() const {
  absl::InlinedVector<absl::string_view, 4> names;
  for (const LayoutDim& dim : InDims()) names.push_back(dim.name);
  return names;
}

absl::InlinedVector<absl::string_view, 4> LinearLayout::OutNames() const {
  absl::InlinedVector<absl::string_view, 4> names;
  for (const LayoutDim& dim : OutDims()) names.push_back(dim.name);
  return names;
}

const LayoutDim& LinearLayout::In(absl::string_view name) const {
  const LayoutDim* dim = Find(InDims(), name);
  if (dim == nullptr) Check(false, "no input ", name, " in ", ToString());
  return *dim;
}

const LayoutDim& LinearLayout::Out(absl::string_view name) const {
  const LayoutDim* dim = Find(OutDims(), name);
  if (dim == nullptr) Check(false, "no output ", name, " in ", ToString());
  return *dim;
}

int32_t LinearLayout::TotalOutBits() const { return TotalBits(OutDims()); }

int32_t LinearLayout::Basis(absl::string_view in, int32_t bit, absl::string_view out) const {
  const LayoutDim& from = In(in);
  const LayoutDim& to = Out(out);
  Check(0 <= bit && bit < from.bits, "no bit ", bit, " in ", in);
  return static_cast<int32_t>((columns()[from.shift + bit] >> to.shift) & to.mask());
}

Coordinates LinearLayout::Basis(absl::string_view in, int32_t bit) const {
  const LayoutDim& from = In(in);
  Check(0 <= bit && bit < from.bits, "no bit ", bit, " in ", in);
  return Unflatten(columns()[from.shift + bit], OutDims());
}

uint64_t LinearLayout::ApplyFlat(uint64_t in) const {
  Check((in >> TotalInBits()) == 0, "input ", in, " exceeds ", TotalInBits(), " bits");
  uint64_t out = 0;
  for (; in != 0; in &= in - 1) out ^= columns()[__builtin_ctzll(in)];
  return out;
}

Coordinates LinearLayout::Apply(absl::Span<const int32_t> ins) const {
  Check(ins.size() == InDims().size(), "got ", ins.size(), " coordinates for ", InDims().size(), " inputs");
  uint64_t flat = 0;
  for (size_t i = 0; i < ins.size(); ++i) {
    const LayoutDim& dim = InDims()[i];
    Check(0 <= ins[i] && ins[i] < dim.size(), ins[i], " is outside of ", dim.name);
    flat |= static_cast<uint64_t>(ins[i]) << dim.shift;
  }
  return Unflatten(ApplyFlat(flat), OutDims());
}

Coordinates LinearLayout::ApplyNamed(absl::Span<const std::pair<absl::string_view, int32_t>> ins) const {
  uint64_t flat = 0;
  for (const auto& [name, value] : ins) {
    const LayoutDim& dim = In(name);
    Check(0 <= value && value < dim.size(), value, " is outside of ", name);
    flat |= static_cast<uint64_t>(value) << dim.shift;
  }
  return Unflatten(ApplyFlat(flat), OutDims());
}

int32_t LinearLayout::Rank() const { return F2Span(columns()).rank(); }

int32_t LinearLayout::NumConsecutive(absl::string_view in, absl::string_view out) const {
  const LayoutDim& from = In(in);
  const LayoutDim& to = Out(out);
  int32_t run = 0;
  while (run < from.bits && run < to.bits && columns()[from.shift + run] == uint64_t{1} << (to.shift + run)) ++run;
  // The runs stay aligned only where no other input moves inside them.
  uint64_t touched = 0;
  for (int32_t i = 0; i < TotalInBits(); ++i) {
    if (i < from.shift || i >= from.shift + run) touched |= columns()[i];
  }
  touched = (touched >> to.shift) & to.mask();
  if (touched != 0) run = std::min(run, static_cast<int32_t>(__builtin_ctzll(touched)));
  return int32_t{1} << run;
}

Coordinates LinearLayout::FreeVariableMasks() const {
  F2Span span;
  Coordinates masks;
  for (const LayoutDim& dim : InDims()) {
    int32_t mask = 0;
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      if (!span.Insert(columns()[dim.shift + bit])) mask |= int32_t{1} << bit;
    }
    masks.push_back(mask);
  }
  return masks;
}

bool LinearLayout::IsZero(DimNames ins, DimNames outs) const {
  uint64_t mask = 0;
  for (absl::string_view name : outs) mask |= Out(name).mask() << Out(name).shift;
  for (absl::string_view name : ins) {
    const LayoutDim& dim = In(name);
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      if ((columns()[dim.shift + bit] & mask) != 0) return false;
    }
  }
  return true;
}

bool LinearLayout::IsTrivialOver(DimNames dims) const {
  uint64_t in_mask = 0;
  uint64_t out_mask = 0;
  for (absl::string_view name : dims) {
    const LayoutDim* in = Find(InDims(), name);
    const LayoutDim* out = Find(OutDims(), name);
    if (in == nullptr || out == nullptr || in->bits != out->bits) return false;
    for (int32_t bit = 0; bit < in->bits; ++bit) {
      if (columns()[in->shift + bit] != uint64_t{1} << (out->shift + bit)) return false;
    }
    in_mask |= in->mask() << in->shift;
    out_mask |= out->mask() << out->shift;
  }
  for (int32_t i = 0; i < TotalInBits(); ++i) {
    if (((in_mask >> i) & 1) == 0 && (columns()[i] & out_mask) != 0) return false;
  }
  return true;
}

bool operator==(const LinearLayout& a, const LinearLayout& b) {
  if (a.rep_ == b.rep_) return true;
  const auto same = [](const LayoutDim& x, const LayoutDim& y) { return x.name == y.name && x.bits == y.bits; };
  return a.columns() == b.columns() &&
         std::equal(a.InDims().begin(), a.InDims().end(), b.InDims().begin(), b.InDims().end(), same) &&
         std::equal(a.OutDims().begin(), a.OutDims().end(), b.OutDims().begin(), b.OutDims().end(), same);
}

std::string LinearLayout::ToString() const {
  std::string text;
  for (const LayoutDim& dim : InDims()) {
    absl::StrAppend(&text, dim.name, ":");
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      absl::StrAppend(&text, " ", int32_t{1} << bit, "->(",
                      absl::StrJoin(Unflatten(columns()[dim.shift + bit], OutDims()), ","), ")");
    }
    absl::StrAppend(&text, " ");
  }
  absl::StrAppend(&text, "=> ");
  absl::StrAppend(&text, absl::StrJoin(OutDims(), ", ", [](std::string* out, const LayoutDim& dim) {
    absl::StrAppend(out, dim.name, ": ", dim.size());
  }));
  return text;
}

}  // namespace tritond::compiler
