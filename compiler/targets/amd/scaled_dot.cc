// SPDX-License-Identifier: Apache-2.0
// Operands of 8 bits and bytes of two e2m1 each have runs of 16 bytes along K in a lane. See CDNA4 ISA, "MFMA with
// Block Exponent Scaling". Lanes along K are as many as groups along K in a tile: each gives the scale of its group. So
// the scales of a lie as an operand would that has an element for each group, and a kWidth of 1:
//
//   %x = ttg.convert_layout %a       : … -> tensor<MxKxf8E4M3FN, #dot_op<0, #mfma, kWidth = 16>>
//   %s = ttg.convert_layout %a_scale : … -> tensor<MxGxi8, #linear of #dot_op<0, #mfma, kWidth = 1>>
//
// Those of b do so too, turned: they have columns of b as rows.
#include "compiler/targets/amd/scaled_dot.h"

#include "compiler/dots/dot_warps.h"
#include "compiler/dots/scaled_dot_form.h"
#include "compiler/targets/amd/matrix_instructions.h"

namespace tritond::compiler::amd {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int kTiles[] = {32, 16};
constexpr unsigned kAccumulatorBits = 32;  // of accumulators that are no doubles

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// Rows of the tile that suits the dot, 0 if none does. Large tiles read less, if every warp gets one.
int ChooseTile(tt::DotScaledOp dot, const Architecture& arch, int tile_rows) {
  llvm::ArrayRef<int64_t> shape = TypeOf(dot.getC()).getShape();
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  int found = 0;
  for (int tile : kTiles) {
    const MatrixRow* row = FindScaledRow(arch, tile);
    if (!row || rows % tile || columns % tile || DepthOf(dot) % (row->per_lane * LanesAlongK(arch, tile))) continue;
    const int64_t count = rows / tile * (columns / tile) * (shape.size() == 3 ? shape[0] : 1);
    if (tile_rows != 0 ? tile == tile_rows : count >= ttg::NumWarps(dot)) return tile;
    found = tile;
  }
  return found;
}

// Of the scales of operand `index`, whose last two dimensions are rows and groups.
mlir::Attribute ScaleEncoding(RankedTensorType scale, int index, ttg::DistributedEncoding mfma) {
  const size_t rank = scale.getRank();
  llvm::SmallVector<int64_t> shape(scale.getShape());
  if (index == 1) std::swap(shape[rank - 2], shape[rank - 1]);
  auto operand = ttg::DotOperandEncodingAttr::get(scale.getContext(), index, mfma, /*kWidth=*/1);
  LinearLayout layout = ttg::ToLinearLayout(RankedTensorType::get(shape, scale.getElementType(), operand));
  if (index == 1) {
    auto dims = ttg::DimNames(rank);
    llvm::SmallVector<absl::string_view> turned(dims.begin(), dims.end());
    std::swap(turned[rank - 2], turned[rank - 1]);
    layout = layout.RenameOuts(turned);
    layout = layout.TransposeOuts(llvm::SmallVector<absl::string_view>(dims.begin(), dims.end()));
  }
  return ttg::LinearEncodingAttr::get(scale.getContext(), layout);
}

}  // namespace

void AccelerateScaledDot(tt::DotScaledOp dot, const Architecture& arch, int tile_rows) {
  if (!llvm::isa_and_present<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding())) return;
  const unsigned tile = ChooseTile(dot, arch, tile_rows);
  if (tile == 0) return;
  mlir::MLIRContext* context = dot.getContext();
  llvm::ArrayRef<int64_t> shape = TypeOf(dot.getC()).getShape();
  const unsigned rank = shape.size();
  const auto warps = SplitWarps(shape, ttg::NumWarps(dot), Whole::kNothing, tile, tile);
  ttg::DistributedEncoding mfma =
      ttg::AmdMfmaEncodingAttr::get(context, EncodingVersion(arch.matrix), warps, {tile, tile}, /*isTransposed=*/true,
                                    llvm::SmallVector<unsigned>(rank, 1), kAccumulatorBits, ttg::SingleBlock(rank));
  ScaledDotForm form = {mfma, kScaledRun, kScaledRun};
  if (Value scale = dot.getAScale()) form.a_scale = ScaleEncoding(TypeOf(scale), 0, mfma);
  if (Value scale = dot.getBScale()) form.b_scale = ScaleEncoding(TypeOf(scale), 1, mfma);
  ReformScaledDot(dot, form);
}

}  // namespace tritond::compiler::amd
