// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_reduction.h"

namespace tritond::compiler {
namespace {

constexpr double kShuffledWord = 4;  // one warp shuffles in a cycle, in which four issue
// A step's shuffle is there after 25 cycles of four slots; 16 warps of a multiprocessor wait together.
constexpr double kStep = 25 * 4 / 16.0;
// What is cheaper by less is not worth the registers.
constexpr double kWorthwhile = 0.9;

double SlotsOf(int results, int lane_bits, const LaneWork& work, int shared_bits) {
  const double exchange = kShuffledWord * work.words, choose = 2 * work.words;
  const bool takes_lowest = work.is_ordered && lane_bits > 1 && !work.stays_apart;
  const bool regains = !work.is_ordered && !work.stays_apart;
  double slots = kStep * shared_bits + (takes_lowest ? results * exchange : 0);
  for (int bit = 0; bit < shared_bits; ++bit) {
    results /= 2;
    slots += results * (exchange + choose + (work.is_ordered ? work.words : 0) + work.combine);
    if (regains) slots += results * (exchange + choose);
  }
  const bool chooses = work.is_ordered && lane_bits - shared_bits == 1;
  return slots + results * (lane_bits - shared_bits) * (exchange + (chooses ? choose : 0) + work.combine);
}

}  // namespace

LaneReduction PlanLaneReduction(int results, int lane_bits, const LaneWork& work) {
  LaneReduction best{0, SlotsOf(results, lane_bits, work, 0)};
  if (!work.may_share) return best;
  const double butterfly = best.slots;
  for (int bits = 1; bits <= lane_bits && results >> bits > 0; ++bits) {
    const double slots = SlotsOf(results, lane_bits, work, bits);
    if (slots < best.slots && slots < kWorthwhile * butterfly) best = {bits, slots};
  }
  return best;
}

}  // namespace tritond::compiler
