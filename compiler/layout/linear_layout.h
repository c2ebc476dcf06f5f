// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_LINEAR_LAYOUT_H_
#define COMPILER_LAYOUT_LINEAR_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tritond::compiler {

// A dimension and its size (a power of two, counted in elements of that dimension).
struct DimSize {
  std::string name;
  int32_t size = 1;
};

// One dimension of a layout. Flattened, a layout's dimensions lie side by side in one 64-bit word, the first
// dimension in the lowest bits. This one holds bits [shift, shift + bits).
struct LayoutDim {
  std::string name;
  int32_t bits = 0;
  int32_t shift = 0;

  int32_t size() const { return int32_t{1} << bits; }
  uint64_t mask() const { return (uint64_t{1} << bits) - 1; }
};

// The bases of one input dimension: bases[bit][out] is the coordinate in output dimension `out` of input 2^bit.
struct InDimBases {
  std::string name;
  std::vector<std::vector<int32_t>> bases;
};

// Names of dimensions; a braced list of literals will do.
using DimNames = absl::Span<const absl::string_view>;

// Points in order of a layout's dimensions.
using Coordinates = absl::InlinedVector<int32_t, 4>;

// A linear map over F2 between two spaces of named dimensions, each of a power-of-two size. The image of an input is
// the XOR of the bases (images of 2^i) of its set bits. Inputs are hardware ("register", "lane", "warp", "block") or
// memory ("offset"), outputs are the dimensions of a tensor ("dim0", "dim1", ...). A zero basis means that this input
// bit replicates data. See "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2"
// (arXiv:2505.23819).
//
// Dimensions are ordered, the first is the least significant one whenever a space is flattened. Both spaces have at
// most 63 bits, a dimension at most 30.
//
// An immutable value: copies share the content, any thread may read. A dimension that the layout lacks, a size that is
// no power of two and a mismatch of sizes are errors of the caller. They CHECK-fail, unless said otherwise.
// Only FromBases and InferFromBases take unchecked input. The algebra (compose, invert, ...) is in layout_algebra.h.
class LinearLayout final {
 public:
  using Dims = absl::InlinedVector<LayoutDim, 4>;
  using Columns = absl::InlinedVector<uint64_t, 16>;

  // The map from no dimension to no dimension: the neutral element of `*`.
  LinearLayout();

  // i -> i, from `in` to `out`, both of `size`.
  static LinearLayout Identity1D(int32_t size, absl::string_view in, absl::string_view out);
  // i -> i * stride, where `out` has size * stride elements. `stride` is a power of two.
  static LinearLayout Strided1D(int32_t size, int32_t stride, absl::string_view in, absl::string_view out);
  // i -> 0, where `out` has `out_size` elements.
  static LinearLayout Zeros1D(int32_t size, absl::string_view in, absl::string_view out, int32_t out_size = 1);
  // The layout with these bases. InvalidArgument, naming the dimension and the bit, when a size is no power of two or a
  // name repeats. Likewise when a basis has the wrong number of coordinates or lies outside its output dimension.
  static absl::StatusOr<LinearLayout> FromBases(absl::Span<const InDimBases> ins, absl::Span<const DimSize> outs);
  // As FromBases; each output dimension is the smallest power of two that holds all bases.
  static absl::StatusOr<LinearLayout> InferFromBases(absl::Span<const InDimBases> ins, DimNames outs);
  // The layout whose flattened input bit i has the flattened image columns[i] (see Columns()). Dimensions' shifts are
  // recomputed from their bits.
  static LinearLayout FromColumns(Dims ins, Dims outs, Columns columns);

  const Dims& InDims() const { return rep_->ins; }
  const Dims& OutDims() const { return rep_->outs; }
  bool HasIn(absl::string_view name) const;
  bool HasOut(absl::string_view name) const;
  // The names in order; views into this layout (or a copy of it), which must outlive them.
  absl::InlinedVector<absl::string_view, 4> InNames() const;
  absl::InlinedVector<absl::string_view, 4> OutNames() const;
  // Size in elements, or its logarithm, of one dimension.
  int32_t InSize(absl::string_view name) const { return In(name).size(); }
  int32_t OutSize(absl::string_view name) const { return Out(name).size(); }
  int32_t InBits(absl::string_view name) const { return In(name).bits; }
  int32_t OutBits(absl::string_view name) const { return Out(name).bits; }
  // Logarithm of the number of elements of the whole input or output space.
  int32_t TotalInBits() const { return static_cast<int32_t>(rep_->columns.size()); }
  int32_t TotalOutBits() const;
  const LayoutDim& In(absl::string_view name) const;
  const LayoutDim& Out(absl::string_view name) const;

  // The matrix by columns: the flattened image of each flattened input bit. The bits of an input dimension `d` are
  // columns [d.shift, d.shift + d.bits).
  const Columns& columns() const { return rep_->columns; }
  // Coordinate in `out` of the image of bit `bit` of `in`.
  int32_t Basis(absl::string_view in, int32_t bit, absl::string_view out) const;
  // All coordinates of that image, in order of OutDims().
  Coordinates Basis(absl::string_view in, int32_t bit) const;

  // The image of a point; coordinates in order of InDims() and OutDims().
  Coordinates Apply(absl::Span<const int32_t> ins) const;
  // The same with named coordinates; those left out are 0.
  Coordinates ApplyNamed(absl::Span<const std::pair<absl::string_view, int32_t>> ins) const;
  // The same for flattened points.
  uint64_t ApplyFlat(uint64_t in) const;

  // Rank of the matrix: the image has 2^Rank() points.
  int32_t Rank() const;
  bool IsSurjective() const { return Rank() == TotalOutBits(); }
  bool IsInjective() const { return Rank() == TotalInBits(); }
  bool IsInvertible() const { return IsSurjective() && IsInjective(); }

  // The largest power of two n such that every aligned run of n inputs along `in` (all other inputs fixed) stays a run.
  // It goes to an aligned run of n consecutive elements of `out`, in order, at one place of the other outputs.
  int32_t NumConsecutive(absl::string_view in, absl::string_view out) const;
  // For each input dimension, in order, the bits that replicate data. The image of such a bit is a combination of the
  // images of bits before it. So points with all these bits 0 reach the whole image, each element once.
  Coordinates FreeVariableMasks() const;
  // True when the images of `ins` have only zero coordinates in `outs`.
  bool IsZero(DimNames ins, DimNames outs) const;
  // True when each of `dims` is an input and an output of one size, and is mapped to itself by the identity. It must
  // neither reach any other dimension nor be reached by one.
  bool IsTrivialOver(DimNames dims) const;

  // Keeps only these inputs (others are fixed to 0) and outputs (others are dropped), in this layout's order.
  LinearLayout Sublayout(DimNames ins, DimNames outs) const;
  // The same map with the dimensions in this order. `names` is a permutation of the dimensions.
  LinearLayout TransposeIns(DimNames names) const;
  LinearLayout TransposeOuts(DimNames names) const;
  // Gives the dimensions new names, in order.
  LinearLayout RenameIns(DimNames names) const;
  LinearLayout RenameOuts(DimNames names) const;
  // Splits the flattened space anew, first dimension least significant. The total size stays.
  LinearLayout ReshapeIns(absl::Span<const DimSize> dims) const;
  LinearLayout ReshapeOuts(absl::Span<const DimSize> dims) const;
  // Reshapes into one dimension; the default is the name of the first one. The layout has at least one.
  LinearLayout FlattenIns(absl::string_view name = "") const;
  LinearLayout FlattenOuts(absl::string_view name = "") const;
  // Drops the bits of `in` whose image is zero; later bits move down.
  LinearLayout RemoveZeroBases(absl::string_view in) const;
  // Changes the size of one input: drops its highest bits, or appends zero bases.
  LinearLayout ResizeIn(absl::string_view name, int32_t size) const;
  // Changes the size of one output: images are taken modulo `size`.
  LinearLayout ResizeOut(absl::string_view name, int32_t size) const;

  // The direct sum: dimensions of one name are stacked, those of `inner` in the lower bits. Dimensions of `outer` that
  // `inner` lacks come after those of `inner`.
  friend LinearLayout operator*(const LinearLayout& inner, const LinearLayout& outer);
  LinearLayout& operator*=(const LinearLayout& outer) { return *this = *this * outer; }

  // Equal names, sizes, order of dimensions and bases.
  friend bool operator==(const LinearLayout& a, const LinearLayout& b);
  friend bool operator!=(const LinearLayout& a, const LinearLayout& b) { return !(a == b); }

  template <typename H>
  friend H AbslHashValue(H state, const LinearLayout& layout) {
    for (const Dims* dims : {&layout.InDims(), &layout.OutDims()}) {
      for (const LayoutDim& dim : *dims) state = H::combine(std::move(state), dim.name, dim.bits);
      state = H::combine(std::move(state), dims->size());
    }
    return H::combine(std::move(state), layout.columns());
  }

  // For example "register: 1->(0,1) lane: 1->(0,2) 2->(1,0) => dim0: 2, dim1: 4".
  std::string ToString() const;

 private:
  struct Rep {
    Dims ins;
    Dims outs;
    Columns columns;
  };

  explicit LinearLayout(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

  // Never null. Shared because layouts are copied far more often than made, and never change.
  std::shared_ptr<const Rep> rep_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_LINEAR_LAYOUT_H_
