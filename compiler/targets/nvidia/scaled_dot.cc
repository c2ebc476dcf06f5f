// SPDX-License-Identifier: Apache-2.0
// Which lane gives the scales of which row, in the instruction's tile (PTX ISA, "Block scaling for mma.sync"). Here
// g = lane / 4, t = lane % 4, and the first threads are selected:
//
//   rows of a       g in the lanes with even t, g + 8 in those with odd t
//   columns of b    g in all four lanes
//
// So the scales of a are a tensor of rows and groups whose registers count the groups first, then the tiles:
//
//   %s = ttg.convert_layout %a_scale : … -> tensor<MxGxi8, #ttg.linear<{
//          register = [[0, 1], [0, 2], …, rows of C's registers beyond a tile],
//          lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = rows of C's warps}>>
#include "compiler/targets/nvidia/scaled_dot.h"

#include "compiler/dots/dot_warps.h"
#include "compiler/dots/scaled_dot_form.h"
#include "compiler/targets/nvidia/matrix_shapes.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::RankedTensorType;

using Bases = std::vector<std::vector<int32_t>>;

RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// Of the scales of an operand, whose last two dimensions are the rows or columns that it shares with the result, and
// the groups. `result` has the encoding of the accumulators.
mlir::Attribute ScaleEncoding(RankedTensorType scale, RankedTensorType result, bool is_a) {
  const LinearLayout layout = ttg::ToLinearLayout(result);
  const auto dims = ttg::DimNames(scale.getRank());
  const size_t rank = scale.getRank(), last = rank - 1, own = rank - 2, of_result = is_a ? rank - 2 : rank - 1;
  const int32_t tile = is_a ? kTileM : kTileN;
  // What the result's rows or columns depend on, but for those inside a tile.
  const auto bases_of = [&](absl::string_view in, int32_t least) {
    Bases bases;
    for (int bit = 0; bit < layout.InBits(in); ++bit) {
      std::vector<int32_t> basis(rank);
      for (size_t dim = 0; dim < own; ++dim) basis[dim] = layout.Basis(in, bit, dims[dim]);
      basis[own] = layout.Basis(in, bit, dims[of_result]);
      const bool is_inside = basis[own] != 0 && basis[own] < least;
      const bool is_other = in == "register" && llvm::all_of(basis, [](int32_t x) { return x == 0; });
      if (!is_inside && !is_other) bases.push_back(basis);
    }
    return bases;
  };
  const auto along = [&](size_t dim, int32_t value) {
    std::vector<int32_t> basis(rank);
    basis[dim] = value;
    return basis;
  };
  Bases registers, lanes = {along(own, is_a ? kTileM / 2 : 0), along(own, 0)};
  for (int32_t group = 1; group < scale.getDimSize(last); group *= 2) registers.push_back(along(last, group));
  llvm::append_range(registers, bases_of("register", tile));
  for (int32_t row : {1, 2, 4}) lanes.push_back(along(own, row));
  std::vector<DimSize> sizes;
  for (auto [dim, size] : llvm::zip(dims, scale.getShape())) sizes.push_back({dim, static_cast<int32_t>(size)});
  auto made =
      LinearLayout::FromBases({InDimBases{"register", registers}, InDimBases{"lane", lanes},
                               InDimBases{"warp", bases_of("warp", 0)}, InDimBases{"block", bases_of("block", 0)}},
                              sizes);
  if (!made.ok()) llvm::report_fatal_error("scales of a dot: " + llvm::Twine(made.status().ToString()));
  return ttg::LinearEncodingAttr::get(scale.getContext(), *made);
}

}  // namespace

void AccelerateScaledDot(tt::DotScaledOp dot) {
  RankedTensorType type = TypeOf(dot.getD());
  if (!llvm::isa_and_present<ttg::BlockedEncodingAttr>(type.getEncoding())) return;
  llvm::SmallVector<unsigned> instruction(type.getRank(), 1);
  instruction[type.getRank() - 2] = kTileM;
  instruction[type.getRank() - 1] = kTileN;
  const auto mma = ttg::NvidiaMmaEncodingAttr::get(
      dot.getContext(), 2, 0, SplitWarps(type.getShape(), ttg::NumWarps(dot), Whole::kNothing, kTileM, kTileN),
      instruction);
  const RankedTensorType result = RankedTensorType::get(type.getShape(), type.getElementType(), mma);
  // Two operands of e2m1 fill words along K, where it is long enough. Beside another operand, or along a shorter K,
  // each has a byte for itself, so that a word comes from two bytes of the tensor.
  const auto is_fp4 = [](tt::ScaleDotElemType element) { return element == tt::ScaleDotElemType::kE2M1; };
  const bool is_a_fp4 = is_fp4(dot.getAElemType()), is_b_fp4 = is_fp4(dot.getBElemType());
  const bool is_dense = is_a_fp4 && is_b_fp4 && DepthOf(dot) % (2 * kTileKBytes) == 0;
  const auto k_width = [&](bool is_fp4) -> unsigned { return is_fp4 && !is_dense ? 2 : 4; };
  ScaledDotForm form = {mma, k_width(is_a_fp4), k_width(is_b_fp4)};
  if (mlir::Value scale = dot.getAScale()) form.a_scale = ScaleEncoding(TypeOf(scale), result, true);
  if (mlir::Value scale = dot.getBScale()) form.b_scale = ScaleEncoding(TypeOf(scale), result, false);
  ReformScaledDot(dot, form);
}

}  // namespace tritond::compiler::nvidia
