// SPDX-License-Identifier: Apache-2.0
// Finds, for each bit of a destination point, the source bits that hold the same data: X with src ∘ X = dst.
//
// Each scope (thread, warp, block, cluster) is tried in turn. Within a scope, the hardware indices outside of it must
// not change. So a destination bit of such an index maps to the same source bit plus a correction from inside. That is
// possible for every point exactly when it is possible for every bit, since all of it is linear:
//
//   scope thread:  X(bit) = same bit + combination of registers
//   scope warp:    X(bit) = same bit (warp, block) + combination of registers and lanes
//   ...
//
// Replication leaves a choice. A register bit prefers registers to lanes, so that the data stay where they are. A lane
// bit prefers lanes to registers: whatever is left to registers then is left to them in any solution. The rank of the
// map from threads to registers, which counts the selects, is then the least possible.

#include "compiler/layout/conversion.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/layout/distributed_pair.h"
#include "compiler/layout/f2_span.h"

namespace tritond::compiler {
namespace {

using Kind = ConversionPlan::Kind;
using Scope = ConversionPlan::Scope;

constexpr int kMaxSelectBits = 1;
constexpr int kRegister = 0;
constexpr int kLane = 1;
constexpr int kWarp = 2;
constexpr int kBlock = 3;

// The span of the columns of these dimensions of `layout`; tags are flattened inputs.
F2Span SpanOf(const LinearLayout& layout, absl::Span<const int> dims) {
  F2Span span;
  for (int d : dims) {
    const LayoutDim& dim = layout.InDims()[d];
    for (int32_t i = dim.shift; i < dim.shift + dim.bits; ++i) span.Insert(layout.columns()[i], uint64_t{1} << i);
  }
  return span;
}

// X with src ∘ X = dst that does not leave `scope`; nullopt when there is none. `inside` is the number of hardware
// dimensions inside of the scope.
std::optional<LinearLayout> SolveWithin(const DistributedPair& pair, int inside) {
  constexpr int kRegistersFirst[] = {kRegister, kLane, kWarp, kBlock};
  constexpr int kLanesFirst[] = {kLane, kRegister, kWarp, kBlock};
  const F2Span near = SpanOf(pair.src, absl::MakeSpan(kRegistersFirst, inside));
  const F2Span far = inside == 1 ? near : SpanOf(pair.src, absl::MakeSpan(kLanesFirst, inside));
  LinearLayout::Columns columns;
  for (int d = 0; d < 4; ++d) {
    const LayoutDim& from = pair.dst.InDims()[d];
    const LayoutDim& to = pair.src.InDims()[d];
    for (int32_t bit = 0; bit < from.bits; ++bit) {
      const uint64_t wanted = pair.dst.columns()[from.shift + bit];
      const uint64_t same = d == kRegister ? 0 : uint64_t{1} << (to.shift + bit);
      // A bit that may move need not: staying is best when it gives the data.
      const bool stays = d >= inside || (d != kRegister && pair.src.ApplyFlat(same) == wanted);
      const uint64_t kept = stays ? same : 0;
      const std::optional<uint64_t> moved = (d == kRegister ? near : far).Solve(wanted ^ pair.src.ApplyFlat(kept));
      if (!moved.has_value()) return std::nullopt;
      columns.push_back(kept ^ *moved);
    }
  }
  return LinearLayout::FromColumns(pair.dst.InDims(), pair.src.InDims(), std::move(columns));
}

// Splits the map from threads to source registers, of rank k, into k products of a register and a mask of thread bits.
std::vector<ConversionPlan::SelectBit> FactorSelects(const LinearLayout& source) {
  const uint64_t registers = source.OutDims()[kRegister].mask();
  F2Span image;
  std::vector<ConversionPlan::SelectBit> selects;
  for (int d : {kLane, kWarp, kBlock}) {
    const LayoutDim& dim = source.InDims()[d];
    for (int32_t bit = 0; bit < dim.bits; ++bit) {
      const uint64_t value = source.columns()[dim.shift + bit] & registers;
      if (image.Insert(value, uint64_t{1} << selects.size())) {
        selects.push_back({static_cast<int32_t>(value), 0, 0, 0});
      }
      const uint64_t uses = *image.Solve(value);
      for (size_t i = 0; i < selects.size(); ++i) {
        if (((uses >> i) & 1) == 0) continue;
        ConversionPlan::SelectBit& select = selects[i];
        (d == kLane ? select.lane_mask : d == kWarp ? select.warp_mask : select.block_mask) |= int32_t{1} << bit;
      }
    }
  }
  return selects;
}

std::vector<int32_t> LaneBases(const LinearLayout& source, int dim) {
  std::vector<int32_t> bases;
  for (int32_t bit = 0; bit < source.InDims()[dim].bits; ++bit) {
    bases.push_back(source.Basis(kHardwareDims[dim], bit, "lane"));
  }
  return bases;
}

void SpellOut(ConversionPlan& plan) {
  const LayoutDim& registers = plan.source.OutDims()[kRegister];
  const LayoutDim& lanes = plan.source.OutDims()[kLane];
  for (int32_t r = 0; r < plan.source.InDims()[kRegister].size(); ++r) {
    const uint64_t from = plan.source.ApplyFlat(r);
    plan.src_register.push_back(static_cast<int32_t>((from >> registers.shift) & registers.mask()));
    plan.src_lane.push_back(static_cast<int32_t>((from >> lanes.shift) & lanes.mask()));
  }
  plan.lane_from_lane = LaneBases(plan.source, kLane);
  plan.lane_from_warp = LaneBases(plan.source, kWarp);
  plan.lane_from_block = LaneBases(plan.source, kBlock);
  plan.select_bits = FactorSelects(plan.source);
}

bool IsIdentity(const ConversionPlan& plan) {
  if (plan.source.InBits("register") != plan.source.OutBits("register")) return false;
  for (size_t r = 0; r < plan.src_register.size(); ++r) {
    if (plan.src_register[r] != static_cast<int32_t>(r)) return false;
  }
  return true;
}

Kind ChooseKind(const ConversionPlan& plan) {
  if (plan.scope > Scope::kWarp || plan.num_select_bits() > kMaxSelectBits) return Kind::kShared;
  if (plan.scope == Scope::kWarp || plan.num_select_bits() > 0) return Kind::kShuffle;
  return IsIdentity(plan) ? Kind::kNone : Kind::kRegister;
}

std::optional<ConversionPlan> PlanWithin(const DistributedPair& pair, Scope scope) {
  std::optional<LinearLayout> source = SolveWithin(pair, static_cast<int>(scope) + 1);
  if (!source.has_value()) return std::nullopt;
  ConversionPlan plan;
  plan.scope = scope;
  plan.source = *std::move(source);
  SpellOut(plan);
  plan.kind = ChooseKind(plan);
  return plan;
}

}  // namespace

absl::StatusOr<ConversionPlan> PlanConversion(const LinearLayout& src, const LinearLayout& dst) {
  const absl::StatusOr<DistributedPair> pair = MakeDistributedPair(src, dst);
  if (!pair.ok()) return pair.status();
  std::optional<ConversionPlan> narrowest;
  for (Scope scope : {Scope::kThread, Scope::kWarp, Scope::kBlock, Scope::kCluster}) {
    std::optional<ConversionPlan> plan = PlanWithin(*pair, scope);
    if (!plan.has_value()) continue;
    if (plan->kind != Kind::kShared) return *std::move(plan);
    if (!narrowest.has_value()) narrowest = std::move(plan);
    // Only moves within a warp can do without memory; staying in the thread may take more selects than they do.
    if (scope >= Scope::kWarp) return *std::move(narrowest);
  }
  return absl::InvalidArgumentError(absl::StrCat("no conversion from ", src.ToString(), " to ", dst.ToString(),
                                                 ": the source lacks elements of the destination"));
}

std::optional<LinearLayout> FindGatherSources(const LinearLayout& src, const LinearLayout& dst, int axis) {
  const LayoutDim along = src.OutDims()[axis];
  const LinearLayout others = dst.ResizeOut(along.name, 1).ResizeOut(along.name, along.size());
  const absl::StatusOr<DistributedPair> pair = MakeDistributedPair(src, others);
  if (!pair.ok()) return std::nullopt;
  std::optional<LinearLayout> source = SolveWithin(*pair, /*inside=*/kWarp);
  if (!source.has_value()) return std::nullopt;
  const F2Span near = SpanOf(pair->src, {kRegister, kLane});
  LinearLayout::Dims ins = source->InDims();
  LinearLayout::Columns columns = source->columns();
  for (int32_t bit = 0; bit < along.bits; ++bit) {
    const std::optional<uint64_t> place = near.Solve(uint64_t{1} << (along.shift + bit));
    if (!place.has_value()) return std::nullopt;
    columns.push_back(*place);
  }
  ins.push_back({"index", along.bits, 0});
  return LinearLayout::FromColumns(std::move(ins), source->OutDims(), std::move(columns));
}

}  // namespace tritond::compiler
