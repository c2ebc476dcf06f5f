// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_reduction.h"

namespace tritond::compiler {
namespace {

constexpr double kShuffledWord = 4;  // one warp shuffles in a cycle, in which four issue
// A step's shuffle is there after 25 cycles of four slots; 16 warps of a multiprocessor wait together.
constexpr double kStep = 25 * 4 / 16.0;
// What is cheaper by less is not worth the registers.
constexpr double kWorthwhile = 0.9;

double SlotsOf(int results, int lane_bits, double words, double combine, int shared_bits) {
  const double exchange = kShuffledWord * words, choose = 2 * words;
  double slots = kStep * shared_bits;
  for (int bit = 0; bit < shared_bits; ++bit) {
    results /= 2;
    slots += results * (2 * (exchange + choose) + combine);
  }
  return slots + results * (lane_bits - shared_bits) * (exchange + combine);
}

}  // namespace

LaneReduction PlanLaneReduction(int results, int lane_bits, double words, double combine, bool may_share) {
  LaneReduction best{0, SlotsOf(results, lane_bits, words, combine, 0)};
  if (!may_share) return best;
  const double butterfly = best.slots;
  for (int bits = 1; bits <= lane_bits && results >> bits > 0; ++bits) {
    const double slots = SlotsOf(results, lane_bits, words, combine, bits);
    if (slots < best.slots && slots < kWorthwhile * butterfly) best = {bits, slots};
  }
  return best;
}

}  // namespace tritond::compiler
