// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_REGISTER_MOVES_H_
#define COMPILER_LAYOUT_REGISTER_MOVES_H_

#include <vector>

namespace tritond::compiler {

// A register of a lane.
struct LanePlace {
  int reg = 0;
  int lane = 0;

  friend bool operator==(const LanePlace& a, const LanePlace& b) { return a.reg == b.reg && a.lane == b.lane; }
};

// Any permutation of a warp's registers, or copies of them, where it is known when a kernel is compiled. It is done by
// shuffles and by selects whose conditions depend on the lane alone.
//
// In a move each lane sends one register, and each takes what one lane sends. Who wants a register that nobody sends in
// this move takes part in another one.
struct RegisterMoves {
  static constexpr int kAny = -1;  // it does not matter
  struct Move {
    std::vector<int> sent;  // by lane: the register that it sends
    std::vector<int> from;  // by lane: where it takes a value from
    bool stays = false;     // every lane takes its own
  };
  // Move number `move` yields the register in those lanes.
  struct Part {
    int move = 0;
    std::vector<int> lanes;
  };

  std::vector<Move> moves;
  std::vector<std::vector<Part>> results;  // by register of the result

  // Issue slots of a warp for values of `words` words of 32 bits.
  double Slots(double words) const;
};

// The cheaper of two ways. Either the receiver chooses: a move for each register that some lane wants. Or the sender
// does: as many moves as there are different registers wanted of one lane. wanted[r][lane] is what becomes register r
// of the lane; all lists have one length.
RegisterMoves PlanRegisterMoves(const std::vector<std::vector<LanePlace>>& wanted);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_REGISTER_MOVES_H_
