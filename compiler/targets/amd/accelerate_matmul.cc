// SPDX-License-Identifier: Apache-2.0
// Gives dots the encodings of the matrix instructions, amd_mfma on CDNA and amd_wmma on RDNA (ReformDot,
// dots/dot_form.h).
//
// Results are transposed where the encoding knows it. A lane then holds neighbours of a row, which are neighbours in
// memory, and which are what it needs as operand a of another dot. For that dot kWidth is as many as those neighbours.
// For others it is what 16 bytes hold, the widest access to shared memory, whatever the instruction takes at once.
//
// Dots that still have scales are those for whose operands there is an instruction (tt-decompose-scaled-dot):
// scaled_dot.cc.
//
// Which dots: all for whose operands there is an instruction. Floats of 8 bits that the GPU has none for become f16.
#include "compiler/dots/dot_form.h"
#include "compiler/dots/dot_warps.h"
#include "compiler/targets/amd/matrix_instructions.h"
#include "compiler/targets/amd/passes.h"
#include "compiler/targets/amd/scaled_dot.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_AMDACCELERATEMATMULPASS
#include "compiler/targets/amd/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int kSmallTile = 16, kLargeTile = 32;
constexpr int kAccessBits = 128;
// Neighbours of a row that a lane holds of a transposed result.
constexpr int kMfmaRun = 4, kWmmaRun = 8;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }
mlir::Type ElementOf(Value value) { return TypeOf(value).getElementType(); }

bool IsFloat8(mlir::Type type) {
  auto number = llvm::dyn_cast<mlir::FloatType>(type);
  return number && number.getWidth() == 8;
}

// What a dot becomes.
struct Plan {
  mlir::Type a, b;  // element types of the operands
  int tile = 0;
  const amd::MatrixRow* row = nullptr;
};

class AcceleratedDot final {
 public:
  AcceleratedDot(tt::DotOp dot, const amd::Architecture& arch, int tile_rows, int operand_pack)
      : dot_(dot),
        b_(dot),
        arch_(arch),
        tile_rows_(tile_rows),
        operand_pack_(operand_pack),
        shape_(TypeOf(dot.getD()).getShape()),
        depth_(TypeOf(dot.getA()).getShape().back()) {}

  void Rewrite() {
    Plan plan = MakePlan();
    if (!plan.row) return;
    const bool is_fed = IsFedByAnotherDot(dot_);
    ttg::DistributedEncoding encoding = Encoding(plan);
    const unsigned width = KWidth(plan, is_fed);
    ReformDot(dot_, {encoding, plan.a, plan.b, width, width});
  }

 private:
  // Without a row where no instruction fits.
  Plan MakePlan() {
    Plan plan = {ElementOf(dot_.getA()), ElementOf(dot_.getB())};
    if (!llvm::isa_and_present<ttg::BlockedEncodingAttr>(TypeOf(dot_.getD()).getEncoding())) return plan;
    const bool both_narrow = amd::IsNarrowFloat(arch_, plan.a) && amd::IsNarrowFloat(arch_, plan.b);
    if (!both_narrow && IsFloat8(plan.a) && IsFloat8(plan.b)) plan.a = plan.b = b_.getF16Type();
    if (!SumsFit(plan.a)) return plan;
    // Large tiles read less, if every warp gets one.
    const int64_t rows = shape_[shape_.size() - 2], columns = shape_.back();
    const int64_t large = rows / kLargeTile * (columns / kLargeTile) * (shape_.size() == 3 ? shape_[0] : 1);
    for (int tile : {kLargeTile, kSmallTile}) {
      if (tile_rows_ == 0 && tile == kLargeTile && large < ttg::NumWarps(dot_)) continue;
      if (tile_rows_ != 0 && amd::HasMfma(arch_.matrix) && tile != tile_rows_) continue;
      // A tile of which some rows or columns are nobody's is still faster than multiply-adds.
      if (tile == kLargeTile && (rows < tile || columns < tile)) continue;
      const int most = static_cast<int>(depth_) / amd::LanesAlongK(arch_, tile);
      plan.tile = tile;
      plan.row = amd::FindMatrixRow(arch_, tile, plan.a, plan.b, most);
      if (plan.row) break;
    }
    return plan;
  }

  // Whether the instruction's accumulators are of the dot's type.
  bool SumsFit(mlir::Type operand) {
    mlir::Type sum = ElementOf(dot_.getC());
    if (operand.isF64()) return sum.isF64();
    if (operand.isInteger(8)) return sum.isInteger(32);
    if (operand.isF32()) return sum.isF32();
    return sum.isF32() || sum.isF16() || sum.isBF16();
  }

  unsigned KWidth(const Plan& plan, bool is_fed) {
    const int run = amd::HasMfma(arch_.matrix) ? kMfmaRun : kWmmaRun;
    const int bits = plan.a.getIntOrFloatBitWidth();
    const int most = static_cast<int>(depth_) / amd::LanesAlongK(arch_, plan.tile);
    int width = std::max(plan.row->per_lane, kAccessBits / bits);
    if (operand_pack_ > 1) width = plan.row->per_lane * operand_pack_;
    if (is_fed && arch_.matrix != amd::MatrixUnit::kWmma1) width = run;
    return std::min(width, most);
  }

  ttg::DistributedEncoding Encoding(const Plan& plan) {
    mlir::MLIRContext* context = dot_.getContext();
    const unsigned rank = shape_.size(), version = amd::EncodingVersion(arch_.matrix), tile = plan.tile;
    auto warps = SplitWarps(shape_, ttg::NumWarps(dot_), WholeInWarps(dot_), tile, tile);
    if (amd::HasMfma(arch_.matrix)) {
      const bool is_double = plan.a.isF64();
      return ttg::AmdMfmaEncodingAttr::get(context, version, warps, {tile, tile}, /*isTransposed=*/!is_double,
                                           llvm::SmallVector<unsigned>(rank, 1), is_double ? 64 : 32,
                                           ttg::SingleBlock(rank));
    }
    LinearLayout tiles;
    auto dims = ttg::DimNames(rank);
    for (const std::string& dim : dims) tiles *= LinearLayout::Identity1D(1, "register", dim);
    for (unsigned dim = rank; dim-- > 0;) tiles *= LinearLayout::Identity1D(warps[dim], "warp", dims[dim]);
    const unsigned depth = plan.row->per_lane * amd::LanesAlongK(arch_, tile);
    return ttg::AmdWmmaEncodingAttr::get(context, version, /*isTransposed=*/version > 1, tiles, {tile, tile, depth},
                                         ttg::SingleBlock(rank));
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  const amd::Architecture& arch_;
  const int tile_rows_, operand_pack_;
  llvm::SmallVector<int64_t> shape_;
  const int64_t depth_;  // K
};

class AmdAccelerateMatmulPass : public impl::AmdAccelerateMatmulPassBase<AmdAccelerateMatmulPass> {
 public:
  using AmdAccelerateMatmulPassBase::AmdAccelerateMatmulPassBase;

 private:
  void runOnOperation() override {
    const amd::Architecture* found = nullptr;
    for (const amd::Architecture& each : amd::kArchitectures)
      if (arch == each.name) found = &each;
    if (!found) {
      getOperation().emitError() << "no architecture '" << arch.getValue() << "'";
      return signalPassFailure();
    }
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) AcceleratedDot(dot, *found, tile_rows, operand_pack).Rewrite();
    llvm::SmallVector<tt::DotScaledOp> scaled;
    getOperation().walk([&](tt::DotScaledOp dot) { scaled.push_back(dot); });
    for (tt::DotScaledOp dot : scaled) amd::AccelerateScaledDot(dot, *found, tile_rows);
  }
};

}  // namespace
}  // namespace tritond::compiler
