// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/register_moves.h"

#include <random>

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using Wanted = std::vector<std::vector<LanePlace>>;

constexpr int kLanes = 8;

// What `wanted` yields with the plan: register r of lane l is 100 r + l before.
void ExpectDoes(const RegisterMoves& plan, const Wanted& wanted) {
  ASSERT_EQ(plan.results.size(), wanted.size());
  for (size_t r = 0; r < wanted.size(); ++r) {
    std::vector<int> seen(kLanes, 0);
    for (const RegisterMoves::Part& part : plan.results[r]) {
      const RegisterMoves::Move& move = plan.moves[part.move];
      for (int lane : part.lanes) {
        ++seen[lane];
        EXPECT_EQ(move.from[lane], wanted[r][lane].lane);
        EXPECT_EQ(move.sent[wanted[r][lane].lane], wanted[r][lane].reg);
        if (move.stays) EXPECT_EQ(wanted[r][lane].lane, lane);
      }
    }
    for (int count : seen) EXPECT_EQ(count, 1);
  }
}

// The neighbours at `distance` on a ring of `registers` elements a lane.
Wanted Ring(int registers, int distance) {
  const int size = registers * kLanes;
  Wanted wanted(registers);
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int at = (lane * registers + r + distance + size) % size;
      wanted[r].push_back({at % registers, at / registers});
    }
  return wanted;
}

TEST(RegisterMoves, NeighboursOnARingTakeOneShuffle) {
  const RegisterMoves plan = PlanRegisterMoves(Ring(4, -1));
  ExpectDoes(plan, Ring(4, -1));
  EXPECT_EQ(plan.Slots(1), 4);
  EXPECT_EQ(plan.Slots(2), 8);
}

TEST(RegisterMoves, WhatALaneHoldsIsNotMoved) {
  const Wanted wanted = Ring(4, 0);
  const RegisterMoves plan = PlanRegisterMoves(wanted);
  ExpectDoes(plan, wanted);
  EXPECT_EQ(plan.Slots(1), 0);
}

// Two halves of a ring, each in a register: shuffles are shared by the registers of the result.
TEST(RegisterMoves, ResultsShareShuffles) {
  Wanted wanted(2);
  for (int r = 0; r < 2; ++r)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int at = (r * kLanes + lane + 1) % (2 * kLanes);
      wanted[r].push_back({at / kLanes, at % kLanes});
    }
  const RegisterMoves plan = PlanRegisterMoves(wanted);
  ExpectDoes(plan, wanted);
  EXPECT_EQ(plan.moves.size(), 2u);
  EXPECT_EQ(plan.Slots(1), 2 * 4 + 2);
}

// Lane l wants register l of lane 7 - l: one shuffle, before which the sender chooses.
TEST(RegisterMoves, SendersChooseWhereThatTakesFewerShuffles) {
  Wanted wanted(1);
  for (int lane = 0; lane < kLanes; ++lane) wanted[0].push_back({lane, kLanes - 1 - lane});
  const RegisterMoves plan = PlanRegisterMoves(wanted);
  ExpectDoes(plan, wanted);
  EXPECT_EQ(plan.moves.size(), 1u);
  EXPECT_EQ(plan.Slots(1), 7 + 4);
}

TEST(RegisterMoves, AnyMapIsDone) {
  std::mt19937 rng(7);
  for (int iteration = 0; iteration < 500; ++iteration) {
    const int registers = 1 << rng() % 4;
    Wanted wanted(1 + rng() % 5);
    for (auto& each : wanted)
      for (int lane = 0; lane < kLanes; ++lane)
        each.push_back({static_cast<int>(rng() % registers), static_cast<int>(rng() % kLanes)});
    ExpectDoes(PlanRegisterMoves(wanted), wanted);
  }
}

}  // namespace
}  // namespace tritond::compiler
