// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_EXCHANGE_H_
#define COMPILER_LAYOUT_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/layout/conversion.h"

namespace tritond::compiler {

// A kShuffle conversion with one select bit, such that the sender chooses which register it sends. It takes one shuffle
// for each destination register, where choosing after the shuffle takes two.
//
// For that, each lane must send to one lane in a shuffle. Where two lanes read one lane, as when a register bit and a
// lane bit change places, destination registers go in pairs. In shuffle j (0 or 1) lane l' gets member s(l') ^ j of
// each pair, with s the select bit.
//
//   source lane(l', w')   = constant ^ ⊕ lane_from_lane[i] over set bits i of l' ^ ⊕ lane_from_warp[i] over those of w'
//   register sent by l, w = a, or a ^ the select bit's register_xor where s is odd
struct Exchange {
  bool in_pairs = false;
  std::vector<int32_t> lane_from_lane;  // invertible; lane_from_warp is the plan's
  // The sender's idea of s: parity of l & lane_mask and w & warp_mask, and of a step's constant & lane_mask.
  int32_t lane_mask = 0;
  int32_t warp_mask = 0;
  // Of the members of a pair: what tells their source lanes, and their source registers, apart.
  int32_t pair_lane_xor = 0;
  int32_t pair_register_xor = 0;
};

// Nullopt where there is none: the plan is no such conversion, or its lanes cannot know.
std::optional<Exchange> FindExchange(const ConversionPlan& plan);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_EXCHANGE_H_
