// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/gather_plan.h"

#include <algorithm>

#include "compiler/analysis/computed_values.h"
#include "compiler/analysis/known_values.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/bank_spread.h"
#include "compiler/layout/conversion.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

// Issue slots of a warp, as in encoding/exchange_cost.h.
constexpr double kBarrier = 40, kSharedWord = 6, kShuffledWord = 4;
// A lane's number and the conditions of its selects, from an index.
constexpr double kIndex = 2;
// Of an offset, where elements are spread over the banks.
constexpr double kSpread = 3;
// Known indices of tensors with more elements are not looked at.
constexpr int64_t kMostPoints = int64_t{1} << 14;

using Wanted = std::vector<std::vector<LanePlace>>;

mlir::RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

int64_t SizeIn(const LinearLayout& layout, absl::string_view dim) { return layout.HasIn(dim) ? layout.InSize(dim) : 1; }

// Registers of a thread that hold different elements.
double ElementsOfThread(const LinearLayout& layout) {
  for (auto [dim, copies] : llvm::zip(layout.InDims(), layout.FreeVariableMasks()))
    if (dim.name == "register") return dim.size() >> llvm::popcount(static_cast<uint32_t>(copies));
  return 1;
}

// The flattened images of (register, lane), the register's bits being lowest.
std::vector<uint64_t> ImagesOfWarp(const LinearLayout& layout) {
  std::vector<uint64_t> images{0};
  for (absl::string_view in : {"register", "lane"}) {
    if (!layout.HasIn(in)) continue;
    const LayoutDim& dim = layout.In(in);
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      const uint64_t column = layout.columns()[dim.shift + bit];
      const size_t half = images.size();
      for (size_t i = 0; i < half; ++i) images.push_back(images[i] ^ column);
    }
  }
  return images;
}

// Finds where the lanes of a warp hold what they want; the same in all warps.
class WantedPlaces final {
 public:
  WantedPlaces(const LinearLayout& src, const LinearLayout& dst, int axis)
      : src_(src), dst_(dst), axis_(axis), held_(ImagesOfWarp(src)), wanted_(ImagesOfWarp(dst)) {}

  // Nullopt where a warp lacks something, or warps differ.
  std::optional<Wanted> Find(const std::vector<int64_t>& indices) {
    if (SizeIn(src_, "block") > 1 || SizeIn(dst_, "block") > 1) return std::nullopt;
    std::optional<Wanted> wanted;
    for (int warp = 0; warp < SizeIn(dst_, "warp"); ++warp) {
      std::optional<Wanted> here = FindIn(warp, indices);
      if (!here || (wanted && *here != *wanted)) return std::nullopt;
      wanted = std::move(here);
    }
    return wanted;
  }

 private:
  static constexpr int kNowhere = -1;

  static uint64_t ImageOf(const LinearLayout& layout, int warp) {
    return layout.HasIn("warp") ? layout.ApplyFlat(static_cast<uint64_t>(warp) << layout.In("warp").shift) : 0;
  }

  // The element of the source, flattened, that is wanted at an image in dst_.
  uint64_t Element(uint64_t at, const std::vector<int64_t>& indices) const {
    int64_t place = 0;
    for (const LayoutDim& dim : dst_.OutDims())
      place = (place << dim.bits) + static_cast<int64_t>(at >> dim.shift & dim.mask());
    uint64_t element = 0;
    for (auto [i, pair] : llvm::enumerate(llvm::zip(src_.OutDims(), dst_.OutDims()))) {
      const auto& [from, to] = pair;
      const uint64_t coordinate = static_cast<int>(i) == axis_ ? static_cast<uint64_t>(indices[place]) : at >> to.shift;
      element |= (coordinate & from.mask()) << from.shift;
    }
    return element;
  }

  std::optional<Wanted> FindIn(int warp, const std::vector<int64_t>& indices) const {
    const int registers = static_cast<int>(SizeIn(src_, "register")),
              results = static_cast<int>(SizeIn(dst_, "register"));
    const uint64_t from = ImageOf(src_, warp), to = ImageOf(dst_, warp);
    std::vector<int> holder(size_t{1} << src_.TotalOutBits(), kNowhere);  // the first of (register, lane), flattened
    for (size_t i = held_.size(); i-- > 0;) holder[held_[i] ^ from] = static_cast<int>(i);
    const bool has_copies = !src_.IsInjective();
    Wanted wanted(results);
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const int lane = static_cast<int>(i) / results;
      const uint64_t element = Element(wanted_[i] ^ to, indices);
      int place = holder[element];
      if (place == kNowhere) return std::nullopt;
      // A lane takes its own copy if it has one.
      for (int reg = 0; has_copies && reg < registers; ++reg)
        if ((held_[lane * registers + reg] ^ from) == element) {
          place = lane * registers + reg;
          break;
        }
      wanted[i % results].push_back({place % registers, place / registers});
    }
    return wanted;
  }

  const LinearLayout& src_;
  const LinearLayout& dst_;
  const int axis_;
  const std::vector<uint64_t> held_, wanted_;
};

// Whether the block does not matter for where lanes find what they want.
bool IsAskable(const LinearLayout& source) { return source.IsZero({"block"}, {"register", "lane"}); }

double SlotsOfShuffles(const LinearLayout& source, double words, double results) {
  const double candidates = 1 << llvm::popcount(static_cast<uint32_t>(ChosenRegisters(source)));
  const double shuffles = StaysInLane(source) ? 0 : candidates;
  return results * (kIndex + words * (shuffles * kShuffledWord + candidates - 1));
}

}  // namespace

int32_t ChosenRegisters(const LinearLayout& source) {
  int32_t bits = 0;
  for (absl::string_view in : {"lane", "warp", "index"})
    for (int32_t bit = 0; bit < source.InBits(in); ++bit) bits |= source.Basis(in, bit, "register");
  return bits;
}

bool StaysInLane(const LinearLayout& source) {
  for (int32_t bit = 0; bit < source.InBits("lane"); ++bit)
    if (source.Basis("lane", bit, "lane") != 1 << bit) return false;
  return source.IsZero({"register", "warp", "block", "index"}, {"lane"});
}

BankSpread SpreadOfGather(tt::GatherOp op, const LinearLayout& dst, const SharedMemoryShape& shape) {
  if (TypeOf(op.getResult()).getShape() != TypeOf(op.getSrc()).getShape() || !IsComputed(op.getIndices())) return {};
  const mlir::Type element = TypeOf(op.getSrc()).getElementType();
  return ChooseSpread(RowMajorOffsets(dst), static_cast<int>(8 * ElementBytes(element)), shape);
}

GatherPlan PlanGather(tt::GatherOp op) {
  return PlanGather(op, ttg::ToLinearLayout(TypeOf(op.getSrc())), ttg::ToLinearLayout(TypeOf(op.getResult())));
}

GatherPlan PlanGather(tt::GatherOp op, const LinearLayout& src, const LinearLayout& dst) {
  const int axis = static_cast<int>(op.getAxis());
  const double words = ElementBytes(TypeOf(op.getSrc()).getElementType()) > 4 ? 2 : 1;
  const double results = ElementsOfThread(dst);
  GatherPlan plan;
  plan.source = FindGatherSources(src, dst, axis);
  plan.slots = kBarrier + kSharedWord * words * (ElementsOfThread(src) + results) + kIndex * results;
  if (SpreadOfGather(op, dst, SharedMemoryShape()).mask != 0) plan.slots += kSpread * results;
  if (plan.source && IsAskable(*plan.source)) {
    const double slots = SlotsOfShuffles(*plan.source, words, results);
    if (slots < plan.slots) plan.kind = GatherPlan::Kind::kShuffles, plan.slots = slots;
  }
  if (std::max(src.TotalInBits(), dst.TotalInBits()) > static_cast<int>(llvm::Log2_64(kMostPoints))) return plan;
  const auto indices = KnownValues(op.getIndices());
  if (!indices) return plan;
  const std::optional<Wanted> wanted = WantedPlaces(src, dst, axis).Find(*indices);
  if (!wanted) return plan;
  plan.moves = PlanRegisterMoves(*wanted);
  const double slots = plan.moves.Slots(words);
  if (slots < plan.slots) plan.kind = GatherPlan::Kind::kMoves, plan.slots = slots;
  return plan;
}

}  // namespace tritond::compiler
