// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_CONVERSION_H_
#define COMPILER_LAYOUT_CONVERSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

// How to move a tensor from one distributed layout to another: the cheapest way that the two placements allow.
// Points are (register r, lane l, warp w, block b); primed letters are destinations.
struct ConversionPlan {
  enum class Kind {
    kNone,      // register r' is register r' of the same thread, for all r'; nothing to do
    kRegister,  // register r' is register src_register[r'] of the same thread
    kShuffle,   // data move within a warp, by at most one select bit; with scope kThread by selects alone
    kShared,    // data go through memory that all threads of `scope` share
  };

  // The narrowest group of threads that holds source and destination of every element.
  enum class Scope { kThread, kWarp, kBlock, kCluster };

  // A source register that depends on the destination's thread: it is XORed with `register_xor` when
  // popcount(l' & lane_mask) + popcount(w' & warp_mask) + popcount(b' & block_mask) is odd.
  struct SelectBit {
    int32_t register_xor = 0;
    int32_t lane_mask = 0;
    int32_t warp_mask = 0;
    int32_t block_mask = 0;
  };

  Kind kind = Kind::kNone;
  Scope scope = Scope::kThread;

  // From (register', lane', warp', block') to (register, lane, warp, block), with src ∘ source = dst. Replicated
  // elements come from the nearest copy. The members below spell it out.
  LinearLayout source;

  // For each destination register r', the parts of source register and source lane that depend on it:
  //   source lane(r', l', w', b')     = src_lane[r'] ^ ⊕ lane_from_lane[i]  over set bits i of l'
  //                                                  ^ ⊕ lane_from_warp[i]  over set bits i of w'
  //                                                  ^ ⊕ lane_from_block[i] over set bits i of b'
  //   source register(r', l', w', b') = src_register[r'] ^ ⊕ register_xor of the select bits that are odd at (l', w',
  //   b')
  // Destination registers with equal entries hold equal data.
  std::vector<int32_t> src_register;
  std::vector<int32_t> src_lane;
  std::vector<int32_t> lane_from_lane;
  std::vector<int32_t> lane_from_warp;
  std::vector<int32_t> lane_from_block;

  // Independent; their number is the rank of the map from (lane', warp', block') to source registers. A shuffle sends
  // 2^size candidates for each destination register and selects among them.
  std::vector<SelectBit> select_bits;

  int32_t num_select_bits() const { return static_cast<int32_t>(select_bits.size()); }
};

// Plans the conversion from `src` to `dst`, distributed layouts (see distributed_pair.h) of one tensor. Shuffles are
// used when the data stay in their warp and at most one select bit is needed. InvalidArgument when the layouts do not
// place one tensor on one machine, or `src` lacks an element of `dst`.
absl::StatusOr<ConversionPlan> PlanConversion(const LinearLayout& src, const LinearLayout& dst);

// Where a warp finds all that it may gather along output `axis` of `src` into registers of `dst`. The layouts differ in
// the size of the axis at most. From (register', lane', warp', block', "index") to (register, lane, warp, block), where
// warp = warp' and block = block'. Nullopt where warps do not hold the whole axis of what they want.
std::optional<LinearLayout> FindGatherSources(const LinearLayout& src, const LinearLayout& dst, int axis);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_CONVERSION_H_
