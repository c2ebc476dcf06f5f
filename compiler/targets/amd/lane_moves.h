// SPDX-License-Identifier: Apache-2.0
// Instructions that move a 32-bit register between the lanes of a wave, for sources that are known when a kernel is
// compiled.
#ifndef COMPILER_TARGETS_AMD_LANE_MOVES_H_
#define COMPILER_TARGETS_AMD_LANE_MOVES_H_

#include <optional>

#include "compiler/targets/amd/architecture.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler::amd {

// One instruction. Values are numbered: 0 is what all moves begin with, i the result of move i - 1.
struct LaneMove {
  enum class Kind {
    kDpp,       // v_mov_b32 with DPP, by its control
    kSameRow,   // v_permlane16_b32, by 16 selectors of four bits
    kOtherRow,  // v_permlanex16_b32, likewise
    kOneLane,   // v_readlane_b32: all lanes get that of lane `control`
    kTwoLanes,  // the same for each half of the wave: lane `control` % 64 for the lower one, `control` / 64
    kSwap,      // v_permlane16_swap_b32 or v_permlane32_swap_b32: of lane xor `control`, which is 16 or 32
    kClear,     // one result of the same: of the lane without the bit `control`
    kSet,       // the other one: of the lane with it
    kSwizzle,   // ds_swizzle_b32, by its pattern
  };
  Kind kind = Kind::kDpp;
  uint64_t control = 0;
  // DPP: which rows of 16 lanes and which banks of four lanes in them are written.
  int rows = 0xf, banks = 0xf;
  int value = 0;
  // DPP: the value that lanes keep which are not written, or whose source does not exist; kNothing: they get any value.
  int kept = kNothing;
  static constexpr int kNothing = -1;
};

struct LaneMoves {
  llvm::SmallVector<LaneMove, 3> moves;  // the last one has the result; none: each lane's own value
  int cycles = 0;                        // until what depends on them can begin
};

// The same for an exchange by ds_bpermute_b32, which takes any sources.
inline constexpr int kPermuteCycles = 72;

// Moves after which lane i has the value of lane sources[i], any value where that is negative. There are as many
// sources as lanes. Nullopt: ds_bpermute_b32 alone does it.
std::optional<LaneMoves> FindLaneMoves(const Architecture& arch, llvm::ArrayRef<int> sources);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_LANE_MOVES_H_
