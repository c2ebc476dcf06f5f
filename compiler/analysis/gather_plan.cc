// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/gather_plan.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/analysis/known_values.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

// Issue slots of a warp, as in encoding/exchange_cost.h.
constexpr double kBarrier = 40, kSharedWord = 6, kShuffledWord = 4;
// A lane's number and the conditions of its selects, from an index.
constexpr double kIndex = 2;
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

// Finds where the lanes of a warp hold what they want; the same in all warps.
class WantedPlaces final {
 public:
  WantedPlaces(const LinearLayout& src, const LinearLayout& dst, int axis) : src_(src), dst_(dst), axis_(axis) {}

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
  static Coordinates At(const LinearLayout& layout, int reg, int lane, int warp) {
    Coordinates ins;
    for (const LayoutDim& dim : layout.InDims())
      ins.push_back(dim.name == "register" ? reg : dim.name == "lane" ? lane : dim.name == "warp" ? warp : 0);
    return layout.Apply(ins);
  }

  static int64_t RowMajor(const LinearLayout& layout, const Coordinates& at) {
    int64_t place = 0;
    for (auto [dim, coordinate] : llvm::zip(layout.OutDims(), at)) place = (place << dim.bits) + coordinate;
    return place;
  }

  std::optional<Wanted> FindIn(int warp, const std::vector<int64_t>& indices) {
    std::unordered_map<int64_t, llvm::SmallVector<LanePlace, 1>> held;
    for (int lane = 0; lane < SizeIn(src_, "lane"); ++lane)
      for (int reg = 0; reg < SizeIn(src_, "register"); ++reg)
        held[RowMajor(src_, At(src_, reg, lane, warp))].push_back({reg, lane});
    Wanted wanted(SizeIn(dst_, "register"));
    for (int reg = 0; reg < SizeIn(dst_, "register"); ++reg)
      for (int lane = 0; lane < SizeIn(dst_, "lane"); ++lane) {
        Coordinates at = At(dst_, reg, lane, warp);
        at[axis_] = static_cast<int32_t>(indices[RowMajor(dst_, at)] & (src_.OutDims()[axis_].size() - 1));
        auto found = held.find(RowMajor(src_, at));
        if (found == held.end()) return std::nullopt;
        // A lane takes its own copy if it has one.
        auto own = llvm::find_if(found->second, [&](const LanePlace& place) { return place.lane == lane; });
        wanted[reg].push_back(own != found->second.end() ? *own : found->second.front());
      }
    return wanted;
  }

  const LinearLayout& src_;
  const LinearLayout& dst_;
  const int axis_;
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
  if (plan.source && IsAskable(*plan.source)) {
    const double slots = SlotsOfShuffles(*plan.source, words, results);
    if (slots < plan.slots) plan.kind = GatherPlan::Kind::kShuffles, plan.slots = slots;
  }
  if (std::max(src.TotalInBits(), dst.TotalInBits()) > llvm::Log2_64(kMostPoints)) return plan;
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
