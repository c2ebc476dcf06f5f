// SPDX-License-Identifier: Apache-2.0
// Gives dots the encodings of the matrix instructions (ReformDot, dots/dot_form.h). nvidia_mma version 2 is mma.sync,
// which a warp does by itself.
//
// Version 3 is wgmma of sm_90: four warps together, whose operands form_warp_group_dots.cc then leaves in shared
// memory. It is taken where its tiles fill the result, and where operands that are not of 16 bits have K contiguous.
// Bytes of b may have N contiguous: threads turn them on their way to the buffer. So do words that threads have anyhow.
// Those that a loop loads are copied past them.
//
// Version 5 is tcgen05 of sm_100: the accumulators are in tensor memory, where place_accumulators.cc puts them. It is
// taken where the accumulators stay there: those of a loop that does nothing but add to them, and those that begin at
// zero. A dot that another one feeds, or that feeds one, has its operands or accumulators in registers and is mma.sync.
//
// Which dots: those of f16, bf16, f64, s8 and fp8 operands, and of f32 operands that may be rounded to tf32. The others
// stay with multiply-adds. fp8 operands become f16 where the GPU has no instruction for them, or only makes one of
// those of f16. They also do where the dot asks for accumulators of full precision, which the fp8 instruction does not
// keep. Where it asks for them after some elements of K (maxNumImpreciseAcc), threads add up what wgmma makes of so
// many, if they have registers for it (warp_group_dots.cc).
//
// Threads widen operands of mma.sync that lie in memory in fewer bits. A lane then takes as many neighbours along K as
// a word of memory holds, of both operands: kWidth is 8 for weights of 4 bits. The products are the same, since K has
// no order.
//
// Dots that still have scales are those for whose operands there is an instruction (tt-decompose-scaled-dot):
// scaled_dot.cc.
#include "compiler/dots/dot_form.h"
#include "compiler/dots/dot_warps.h"
#include "compiler/dots/outliving_dots.h"
#include "compiler/dots/packed_operands.h"
#include "compiler/lowering/zero_constants.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/matrix_shapes.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/scaled_dot.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ACCELERATEMATMULPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

using nvidia::kGroupTileM;
using nvidia::kMaxGroupTileN;
using nvidia::kTileKBytes;
using nvidia::kTileM;
using nvidia::kTileN;
using nvidia::kWarpsOfGroup;

// wgmma: the fewest columns that pay; the bytes that stand together in a buffer.
constexpr int64_t kGroupTileN = 16, kMinRowBytes = 32;
// Words of a thread for accumulators. An instruction of wgmma takes 128 at most. Where a thread has more, the others
// wait in local memory. That is so of mma.sync, too, which besides needs registers for its operands.
constexpr int64_t kMaxGroupAccumulators = 256;
// Where they all have to be there: tcgen05's, which threads read at once. Those of bytes, too: their operands take
// few registers of mma.sync, which stores less then.
constexpr int64_t kMaxHeldAccumulators = 128;
// Columns of an instruction whose sums threads add to as many accumulators.
constexpr int64_t kMaxPromotedN = 128;
constexpr int64_t kByteBits = 8;
// By which a thread makes an element of a byte from memory: bytes become bf16 by two for each.
constexpr double kWideningInstructions = 2;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool IsFp8(mlir::Type type) { return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type); }

class AcceleratedDot final {
 public:
  // `tensor_columns`: of tensor memory that are free; what the dot takes is subtracted.
  AcceleratedDot(tt::DotOp dot, int compute_capability, int64_t& tensor_columns)
      : dot_(dot),
        b_(dot),
        compute_capability_(compute_capability),
        tensor_columns_(tensor_columns),
        shape_(TypeOf(dot.getD()).getShape()) {}

  void Rewrite() {
    if (RewriteToTensorMemory()) return;
    auto [type_a, type_b] = OperandTypes();
    if (!type_a) return;
    ttg::NvidiaMmaEncodingAttr mma = Fits(type_a) ? GroupEncoding(type_a) : ttg::NvidiaMmaEncodingAttr();
    if (!mma && IsFp8(type_a) && IsPromoted(dot_)) {
      type_a = type_b = b_.getF16Type();
      if (Fits(type_a)) mma = GroupEncoding(type_a);
    }
    const bool is_group = static_cast<bool>(mma);
    if (!is_group) {
      if (IsFp8(type_a) && !nvidia::HasNarrowWarpDots(compute_capability_)) type_a = type_b = b_.getF16Type();
      if (!Fits(type_a)) return;
      mma = WarpEncoding(type_a);
    }
    const unsigned k_width = is_group ? WordElements(type_a) : PackedElements(type_a);
    ReformDot(dot_, {mma, type_a, type_b, k_width, k_width, /*casts_first=*/true});
  }

 private:
  mlir::Type ElementOf(Value value) { return TypeOf(value).getElementType(); }

  // The element types that the operands shall have; null: no instruction.
  std::pair<mlir::Type, mlir::Type> OperandTypes() {
    mlir::Type a = ElementOf(dot_.getA()), b = ElementOf(dot_.getB()), sum = ElementOf(dot_.getC());
    if (IsFp8(a) && IsFp8(b)) {
      const bool precise = dot_.getMaxNumImpreciseAcc() == 0 || IsPromoted(dot_);
      const bool promotes = HasWgmma() && dot_.getMaxNumImpreciseAcc() >= kTileKBytes;
      if (compute_capability_ >= nvidia::kFirstWithNarrowDots && (!precise || promotes) && sum.isF32()) return {a, b};
      return {b_.getF16Type(), b_.getF16Type()};
    }
    if (a != b) return {};
    const bool fits = a.isInteger(8) ? sum.isInteger(32)
                      : a.isF64()    ? sum.isF64()
                      : a.isF32()    ? !sum.isF64() && dot_.getInputPrecision() == tt::InputPrecision::kTf32
                                     : !sum.isF64() && (a.isF16() || a.isBF16());
    return fits ? std::pair(a, b) : std::pair<mlir::Type, mlir::Type>();
  }

  static unsigned WordElements(mlir::Type operand) { return nvidia::WordElements(operand.getIntOrFloatBitWidth()); }

  // The same of mma.sync: those that a word of memory holds of the operand that has fewer bits there. A lane takes at
  // most what it reads at once. Accumulators of another dot are in its lanes as they are.
  unsigned PackedElements(mlir::Type operand) {
    const unsigned least = WordElements(operand), bits = operand.getIntOrFloatBitWidth();
    if (IsFedByAnotherDot(dot_)) return least;
    const unsigned rank = shape_.size();
    int64_t narrow = bits;
    for (auto [value, k] : {std::pair(dot_.getA(), rank - 1), std::pair(dot_.getB(), rank - 2)})
      narrow = std::min(narrow, BitsInMemory(value, k).value_or(narrow));
    unsigned width = std::min(nvidia::kMaxLaneReadBits / bits, static_cast<unsigned>(32 / narrow));
    while (width > least && TypeOf(dot_.getA()).getShape().back() < 8 * width) width /= 2;
    return std::max(width, least);
  }

  bool RewriteToTensorMemory() {
    const mlir::Type type_a = ElementOf(dot_.getA()), type_b = ElementOf(dot_.getB());
    if (!HasTensorInstruction(type_a, type_b) || !Fits(type_a)) return false;
    ttg::NvidiaMmaEncodingAttr mma = TensorEncoding(type_a);
    if (!mma) return false;
    tensor_columns_ -= TensorColumns();
    const unsigned k_width = WordElements(type_a);
    ReformDot(dot_, {mma, type_a, type_b, k_width, k_width, /*casts_first=*/true});
    return true;
  }

  // PTX ISA, "tcgen05.mma", kinds. Its accumulators of 8-bit floats are those of f32.
  bool HasTensorInstruction(mlir::Type a, mlir::Type b) {
    const mlir::Type sum = ElementOf(dot_.getC());
    if (IsFp8(a) && IsFp8(b)) return sum.isF32();
    if (a != b) return false;
    if (a.isInteger(8)) return sum.isInteger(32);
    return sum.isF32() &&
           (a.isF16() || a.isBF16() || (a.isF32() && dot_.getInputPrecision() == tt::InputPrecision::kTf32));
  }

  // Rows of one instruction; columns of 32 bits of all accumulators.
  int64_t TensorRows() const { return std::min<int64_t>(shape_[0], nvidia::kTensorTileM); }
  int64_t TensorColumns() const { return shape_[0] / TensorRows() * shape_[1]; }

  // tcgen05's; null where it does not fit, or does not pay.
  ttg::NvidiaMmaEncodingAttr TensorEncoding(mlir::Type operand) {
    const int64_t num_warps = ttg::NumWarps(dot_), bits = operand.getIntOrFloatBitWidth();
    if (compute_capability_ < nvidia::kFirstWithTensorMemory || compute_capability_ > nvidia::kLastWithTensorMemory)
      return {};
    if (shape_.size() != 2 || num_warps % kWarpsOfGroup != 0 || shape_[0] % nvidia::kHalfTensorTileM != 0) return {};
    if (shape_[1] < kGroupTileN || TensorColumns() > tensor_columns_) return {};
    if (!CanStandInBuffer(dot_.getA(), 1, bits) || !CanStandInBuffer(dot_.getB(), 0, bits)) return {};
    if (shape_[0] * shape_[1] > kMaxHeldAccumulators * num_warps * 32) return {};
    if (!StaysInTensorMemory()) return {};
    // Groups of four warps below each other, as far as there are instructions; then side by side.
    int64_t rows = kWarpsOfGroup, columns = 1;
    while (rows * columns < num_warps) rows / kWarpsOfGroup* TensorRows() < shape_[0] ? rows *= 2 : columns *= 2;
    if (columns * kTileN > shape_[1]) return {};
    const unsigned n = std::min<int64_t>(shape_[1] / columns, kMaxGroupTileN);
    return ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 5, 0, {static_cast<unsigned>(rows), static_cast<unsigned>(columns)},
        {static_cast<unsigned>(TensorRows()), n, static_cast<unsigned>(kTileKBytes * 8 / bits)});
  }

  // Whether no thread needs the accumulators between the dot and the next one that adds to them.
  bool StaysInTensorMemory() {
    auto function = dot_->getParentOfType<tt::FuncOp>();
    if (!function.isPublic() || dot_->getParentOfType<ttg::WarpSpecializeOp>()) return false;
    if (FeedsAnotherDot(dot_) || IsFedByAnotherDot(dot_)) return false;
    return IsZero(dot_.getC()) || IsCarried();
  }

  // The loop carries the accumulators from dot to dot.
  bool IsCarried() {
    auto accumulators = llvm::dyn_cast<mlir::BlockArgument>(dot_.getC());
    auto loop = llvm::dyn_cast<mlir::scf::ForOp>(dot_->getParentOp());
    if (!accumulators || !loop || accumulators.getOwner() != loop.getBody() || accumulators.getArgNumber() == 0)
      return false;
    if (!accumulators.hasOneUse() || !dot_->hasOneUse()) return false;
    mlir::OpOperand& use = *dot_->use_begin();
    return use.getOwner() == loop.getBody()->getTerminator() &&
           use.getOperandNumber() + 1 == accumulators.getArgNumber();
  }

  // Of a warp of mma.sync for an element of an operand, whose K is dimension `k`: its bytes of shared memory, and the
  // instructions by which threads make it of a byte. Both are so many of a lane in the time in which a multiprocessor
  // moves 128 bytes and issues for four warps. What is made of fewer bits comes through a buffer, where it is whole.
  double CostOf(Value value, unsigned k, int64_t bits) {
    const int64_t loaded = BitsInMemory(value, k).value_or(bits);
    return loaded == kByteBits && loaded < bits ? 1 + kWideningInstructions : static_cast<double>(bits) / kByteBits;
  }

  static Value Unconverted(Value value) {
    while (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    return value;
  }

  // How many dots read the operand of this number together: all of the block that make a result of this shape, if they
  // take the same one. Each warp has its part once then. Others share results, and so should share them alike.
  double DotsWith(int index) {
    const Value operand = Unconverted(dot_->getOperand(index));
    double count = 0;
    for (auto dot : dot_->getBlock()->getOps<tt::DotOp>()) {
      if (TypeOf(dot.getD()).getShape() != llvm::ArrayRef(shape_)) continue;
      if (Unconverted(dot->getOperand(index)) != operand) return 1;
      ++count;
    }
    return count;
  }

  // mma.sync's.
  ttg::NvidiaMmaEncodingAttr WarpEncoding(mlir::Type operand) {
    int rank = shape_.size();
    llvm::SmallVector<unsigned> instruction(rank, 1);
    instruction[rank - 2] = kTileM;
    instruction[rank - 1] = kTileN;
    const int64_t bits = operand.getIntOrFloatBitWidth();
    const OperandCosts costs{CostOf(dot_.getA(), rank - 1, bits) / DotsWith(0),
                             CostOf(dot_.getB(), rank - 2, bits) / DotsWith(1)};
    return ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 2, 0, SplitWarps(shape_, ttg::NumWarps(dot_), WholeInWarps(dot_), kTileM, kTileN, costs),
        instruction);
  }

  bool HasWgmma() const {
    return compute_capability_ >= nvidia::kFirstWithWgmma && compute_capability_ <= nvidia::kLastWithWgmma;
  }

  // wgmma's; null where it does not fit.
  ttg::NvidiaMmaEncodingAttr GroupEncoding(mlir::Type operand) {
    int64_t num_warps = ttg::NumWarps(dot_), bits = operand.getIntOrFloatBitWidth();
    if (!HasWgmma() || bits > 32) return {};
    if (shape_.size() != 2 || num_warps % kWarpsOfGroup != 0 || shape_[0] % kGroupTileM != 0) return {};
    if (TypeOf(dot_.getA()).getShape().back() * bits < kTileKBytes * 8) return {};
    if (!CanStandInBuffer(dot_.getA(), 1, bits)) return {};
    if (!CanStandInBuffer(dot_.getB(), 0, bits) && (bits != 32 || IsLoadedBesideDot(dot_.getB()))) return {};
    const bool is_promoted = IsFp8(operand) && IsPromoted(dot_);
    const int64_t most = operand.isInteger(8) || is_promoted ? kMaxHeldAccumulators : kMaxGroupAccumulators;
    if (shape_[0] * shape_[1] / SumsOfWord(operand) > most * num_warps * 32) return {};
    // Groups below each other, as far as there are rows; then side by side.
    int64_t rows = kWarpsOfGroup, columns = 1;
    while (rows * columns < num_warps) rows* kTileM < shape_[0] ? rows *= 2 : columns *= 2;
    if (columns * kTileN > shape_[1]) return {};
    unsigned n = std::min<int64_t>(shape_[1] / columns, is_promoted ? kMaxPromotedN : kMaxGroupTileN);
    return ttg::NvidiaMmaEncodingAttr::get(
        dot_.getContext(), 3, 0, {static_cast<unsigned>(rows), static_cast<unsigned>(columns)},
        {static_cast<unsigned>(kTileM), n, static_cast<unsigned>(kTileKBytes * 8 / bits)});
  }

  // Accumulators of wgmma that a register holds: it adds to pairs of f16 (NvidiaMmaEncodingAttr::AddsToResult).
  int64_t SumsOfWord(mlir::Type operand) { return operand.isF16() && ElementOf(dot_.getC()).isF16() ? 2 : 1; }

  // Whether wgmma can read the operand, whose K is dimension `k`, from a buffer that keeps its order; bytes of b may
  // change theirs.
  bool CanStandInBuffer(Value value, unsigned k, int64_t bits) {
    if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
    RankedTensorType type = TypeOf(value);
    auto blocked = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding());
    unsigned contiguous = blocked ? blocked.getOrder()[0] : k;
    if (contiguous != k && bits == 8 && k == 0 && type.getDimSize(contiguous) >= kGroupTileN) contiguous = k;
    return (bits == 16 || contiguous == k) && type.getDimSize(contiguous) * bits / 8 >= kMinRowBytes;
  }

  // Whether the operand comes from memory in each iteration of the dot's loop.
  bool IsLoadedBesideDot(Value value) {
    if (!llvm::isa<mlir::LoopLikeOpInterface>(dot_->getParentOp())) return false;
    mlir::BackwardSliceOptions options;
    options.omitBlockArguments = true;
    options.inclusive = true;
    options.filter = [&](mlir::Operation* op) { return op->getBlock() == dot_->getBlock(); };
    llvm::SetVector<mlir::Operation*> slice;
    (void)mlir::getBackwardSlice(value, &slice, options);
    return llvm::any_of(slice, [](mlir::Operation* op) { return llvm::isa<tt::LoadOp, tt::DescriptorLoadOp>(op); });
  }

  // Whether K fills the instruction. Of rows and columns there may be fewer: it is still faster than multiply-adds.
  bool Fits(mlir::Type operand) {
    return llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot_.getD()).getEncoding()) &&
           TypeOf(dot_.getA()).getShape().back() >= 8 * WordElements(operand);
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  int compute_capability_;
  int64_t& tensor_columns_;
  llvm::SmallVector<int64_t> shape_;
};

class AccelerateMatmulPass : public impl::AccelerateMatmulPassBase<AccelerateMatmulPass> {
 public:
  using AccelerateMatmulPassBase::AccelerateMatmulPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    // Of each kernel; functions that kernels call have none.
    llvm::DenseMap<mlir::Operation*, int64_t> tensor_columns;
    for (tt::DotOp dot : dots) {
      mlir::Operation* function = dot->getParentOfType<tt::FuncOp>();
      int64_t& columns = tensor_columns.try_emplace(function, nvidia::kTensorColumns).first->second;
      AcceleratedDot(dot, compute_capability, columns).Rewrite();
    }
    llvm::SmallVector<tt::DotScaledOp> scaled;
    getOperation().walk([&](tt::DotScaledOp dot) { scaled.push_back(dot); });
    for (tt::DotScaledOp dot : scaled) nvidia::AccelerateScaledDot(dot);
  }
};

}  // namespace
}  // namespace tritond::compiler
