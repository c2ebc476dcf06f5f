// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_LANE_REDUCTION_H_
#define COMPILER_LAYOUT_LANE_REDUCTION_H_

namespace tritond::compiler {

// How the lanes of a warp combine their partial results of several elements, and share the totals.
//
// By a butterfly, lanes exchange all partial results in each step. Two lanes may as well share the work. Each sends the
// half that the other goes on with, so that a step halves what a lane has. In the end they exchange the totals. With r
// results and k lane bits, of which s are shared so:
//
//   butterfly   k r exchanges and combinations
//   shared      r/2 + r/4 + … (s terms) exchanges and combinations, (k - s) r/2^s, and the s terms again as exchanges
//
// An exchange of halves takes two selections more a word: of what goes, and of what stays. Each shared bit is a step
// more that waits for the one before it.
//
// Where the order of operands matters, a selection more a word tells which part comes first, and r exchanges take the
// totals from the lowest lanes, shared or not. A single step of a butterfly has selections instead.
struct LaneReduction {
  int shared_bits = 0;
  double slots = 0;  // issue slots of a warp
};

// What lanes do with a result.
struct LaneWork {
  double words = 1;          // of 32 bits
  double combine = 1;        // instructions of a combination
  bool is_ordered = false;   // operands may not change places
  bool stays_apart = false;  // nobody needs the totals of other lanes
  bool may_share = true;     // else a butterfly it is
};

// The cheapest, of `results` (a power of two) over `lane_bits`.
LaneReduction PlanLaneReduction(int results, int lane_bits, const LaneWork& work);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_LANE_REDUCTION_H_
