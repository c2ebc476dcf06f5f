// SPDX-License-Identifier: Apache-2.0
// Lane l' reads lane A l' ^ c, and register a or a ^ x there, by the select bit s(l') = m · l'. If A is invertible,
// lane l knows its reader, and with it s. Otherwise registers go in pairs whose source lanes differ by d. In shuffle j,
// l' takes member s(l') ^ j, from lane A l' ^ c ^ (s(l') ^ j) d = (A + d mᵀ) l' ^ c ^ j d. If that is invertible, l
// knows.
#include "compiler/layout/exchange.h"

#include <set>
#include <utility>

#include "compiler/layout/f2_span.h"

namespace tritond::compiler {
namespace {

bool IsOdd(int32_t bits) { return __builtin_popcount(static_cast<uint32_t>(bits)) % 2 != 0; }

// The sender's mask for the lanes `columns` and the reader's mask `mask`; nullopt where a lane has several readers.
std::optional<int32_t> SendersMask(const std::vector<int32_t>& columns, int32_t mask) {
  F2Span span;
  for (size_t bit = 0; bit < columns.size(); ++bit)
    if (!span.Insert(static_cast<uint64_t>(columns[bit]), uint64_t{1} << bit)) return std::nullopt;
  int32_t senders = 0;
  for (size_t bit = 0; bit < columns.size(); ++bit)
    if (IsOdd(static_cast<int32_t>(*span.Solve(uint64_t{1} << bit)) & mask)) senders |= int32_t{1} << bit;
  return senders;
}

int32_t MaskThrough(const std::vector<int32_t>& columns, int32_t mask) {
  int32_t result = 0;
  for (size_t bit = 0; bit < columns.size(); ++bit)
    if (IsOdd(columns[bit] & mask)) result |= int32_t{1} << bit;
  return result;
}

}  // namespace

std::optional<Exchange> FindExchange(const ConversionPlan& plan) {
  if (plan.kind != ConversionPlan::Kind::kShuffle || plan.scope != ConversionPlan::Scope::kWarp) return std::nullopt;
  if (plan.num_select_bits() != 1 || plan.select_bits[0].block_mask != 0) return std::nullopt;
  for (int32_t lane : plan.lane_from_block)
    if (lane != 0) return std::nullopt;
  const ConversionPlan::SelectBit& select = plan.select_bits[0];
  Exchange exchange;
  auto knows = [&] {
    const std::optional<int32_t> mask = SendersMask(exchange.lane_from_lane, select.lane_mask);
    if (!mask.has_value()) return false;
    exchange.lane_mask = *mask;
    exchange.warp_mask = select.warp_mask ^ MaskThrough(plan.lane_from_warp, *mask);
    return true;
  };
  exchange.lane_from_lane = plan.lane_from_lane;
  if (knows()) return exchange;
  // A reader's warp would have to enter the source lane together with its choice.
  if (select.warp_mask != 0) return std::nullopt;
  exchange.in_pairs = true;
  std::set<std::pair<int32_t, int32_t>> reads;
  for (size_t r = 0; r < plan.src_register.size(); ++r) reads.insert({plan.src_register[r], plan.src_lane[r]});
  const auto first = *reads.begin();
  for (const auto& [reg, lane] : reads) {
    exchange.pair_register_xor = reg ^ first.first;
    exchange.pair_lane_xor = lane ^ first.second;
    if (exchange.pair_register_xor != 0 && exchange.pair_register_xor != select.register_xor) continue;
    if (exchange.pair_lane_xor == 0) continue;
    bool all = true;
    for (const auto& [a, c] : reads)
      all = all && reads.count({a ^ exchange.pair_register_xor, c ^ exchange.pair_lane_xor}) != 0;
    if (!all) continue;
    exchange.lane_from_lane = plan.lane_from_lane;
    for (size_t bit = 0; bit < exchange.lane_from_lane.size(); ++bit)
      if ((select.lane_mask >> bit & 1) != 0) exchange.lane_from_lane[bit] ^= exchange.pair_lane_xor;
    if (knows()) return exchange;
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
