// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/lane_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tritond::compiler::amd {
namespace {

using Kind = LaneMove::Kind;
using Lanes = std::vector<int>;

constexpr int kLost = -2;  // what a lane has whose value is any

const Architecture& ArchitectureOf(const std::string& name) {
  for (const Architecture& arch : kArchitectures)
    if (arch.name == name) return arch;
  ADD_FAILURE() << "no " << name;
  return kArchitectures[0];
}

// As the ISA manuals of CDNA 3 and RDNA 3 list the controls of DPP; negative: from nowhere.
int SourceOfDpp(int control, int l, int lanes) {
  const int row = l / 16 * 16, at = l % 16, n = control % 16;
  if (control < 0x100) return l / 4 * 4 + (control >> (2 * (l % 4))) % 4;
  if (control > 0x100 && control < 0x110) return at + n > 15 ? -1 : l + n;
  if (control > 0x110 && control < 0x120) return at < n ? -1 : l - n;
  if (control > 0x120 && control < 0x130) return row + (at + 16 - n) % 16;
  if (control == 0x130) return l == lanes - 1 ? -1 : l + 1;
  if (control == 0x134) return (l + 1) % lanes;
  if (control == 0x138) return l - 1;
  if (control == 0x13c) return (l + lanes - 1) % lanes;
  if (control == 0x140) return row + 15 - at;
  if (control == 0x141) return l / 8 * 8 + 7 - l % 8;
  if (control == 0x142) return row - 1;
  if (control == 0x143) return l < 32 ? -1 : 31;
  if (control >= 0x150 && control < 0x160) return row + n;
  if (control >= 0x160 && control < 0x170) return row + (at ^ n);
  ADD_FAILURE() << "no control " << control;
  return -1;
}

int SourceOfMove(const LaneMove& move, int l) {
  const int control = static_cast<int>(move.control);
  switch (move.kind) {
    case Kind::kSameRow:
      return l / 16 * 16 + static_cast<int>(move.control >> (4 * (l % 16)) & 15);
    case Kind::kOtherRow:
      return (l / 16 ^ 1) * 16 + static_cast<int>(move.control >> (4 * (l % 16)) & 15);
    case Kind::kOneLane:
      return control;
    case Kind::kTwoLanes:
      return l < 32 ? control % 64 : control / 64;
    case Kind::kSwap:
      return l ^ control;
    case Kind::kClear:
      return l & ~control;
    case Kind::kSet:
      return l | control;
    case Kind::kSwizzle:
      return l / 32 * 32 + (((l % 32 & control % 32) | control / 32 % 32) ^ control / 1024);
    case Kind::kDpp:
      break;
  }
  return -1;
}

// What lanes have after the moves, each lane's own number before.
Lanes After(const LaneMoves& moves, int lanes) {
  std::vector<Lanes> values(1, Lanes(lanes));
  for (int l = 0; l < lanes; ++l) values[0][l] = l;
  for (const LaneMove& move : moves.moves) {
    Lanes next(lanes, kLost);
    for (int l = 0; l < lanes; ++l) {
      const bool is_dpp = move.kind == Kind::kDpp;
      const bool is_on = !is_dpp || ((move.rows >> l / 16 & 1) && (move.banks >> l % 16 / 4 & 1));
      const int from = !is_on   ? -1
                       : is_dpp ? SourceOfDpp(static_cast<int>(move.control), l, lanes)
                                : SourceOfMove(move, l);
      if (from >= 0) {
        next[l] = values.at(move.value)[from];
      } else if (move.kept != LaneMove::kNothing) {
        next[l] = values.at(move.kept)[l];
      }
    }
    values.push_back(next);
  }
  return values.back();
}

Lanes MapOf(const Architecture& arch, const std::function<int(int)>& source) {
  Lanes map;
  for (int l = 0; l < arch.lanes; ++l) map.push_back(source(l));
  return map;
}

// The cycles of the moves, which are right; 0: there are none.
int CyclesOf(const char* name, const std::function<int(int)>& source) {
  const Architecture& arch = ArchitectureOf(name);
  const Lanes map = MapOf(arch, source);
  const std::optional<LaneMoves> moves = FindLaneMoves(arch, map);
  if (!moves) return 0;
  const Lanes after = After(*moves, arch.lanes);
  for (int l = 0; l < arch.lanes; ++l) {
    if (map[l] >= 0) EXPECT_EQ(after[l], map[l]) << name << ", lane " << l << " of " << moves->moves.size() << " moves";
  }
  return moves->cycles;
}

TEST(LaneMoves, ExchangeByAllMasks) {
  for (const Architecture& arch : kArchitectures) {
    for (int mask = 0; mask < arch.lanes; ++mask) {
      const int cycles = CyclesOf(arch.name, [&](int l) { return l ^ mask; });
      const bool is_near = mask < 16 || arch.has_row_xor || arch.swaps_rows;
      EXPECT_EQ(cycles > 0 || mask == 0, mask < 32 || arch.swaps_rows) << arch.name << " " << mask;
      if (is_near) EXPECT_LT(cycles, 64) << arch.name << " " << mask;
    }
  }
}

TEST(LaneMoves, OneMoveServesEachStepOfAScanInARow) {
  for (const Architecture& arch : kArchitectures)
    for (int distance : {1, 2, 4, 8}) {
      EXPECT_EQ(CyclesOf(arch.name, [&](int l) { return l % 16 >= distance ? l - distance : -1; }), 8);
      EXPECT_EQ(CyclesOf(arch.name, [&](int l) { return l % 16 + distance < 16 ? l + distance : -1; }), 8);
    }
}

TEST(LaneMoves, RowsTakeFromTheRowsBefore) {
  for (const char* name : {"gfx90a", "gfx942", "gfx950"}) {
    EXPECT_EQ(CyclesOf(name, [](int l) { return l & 16 ? l / 16 * 16 - 1 : -1; }), 8) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l & 32 ? 31 : -1; }), 8) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l - 1; }), 8) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l < 63 ? l + 1 : -1; }), 8) << name;
  }
  for (const char* name : {"gfx1030", "gfx1100", "gfx1201"}) {
    EXPECT_EQ(CyclesOf(name, [](int l) { return l & 16 ? 15 : -1; }), 8) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l - 1; }), 16) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l & 16 ? l - 12 : -1; }), 20) << name;
    EXPECT_EQ(CyclesOf(name, [](int l) { return l & 16 ? (l & 3) + 12 : -1; }), 12) << name;
  }
}

TEST(LaneMoves, BroadcastLanesOfGroups) {
  for (const Architecture& arch : kArchitectures)
    for (int size : {2, 4, 8, 16}) {
      const int most = size == 8 ? 16 : 8;
      const int last = CyclesOf(arch.name, [&](int l) { return l | (size - 1); });
      const int first = CyclesOf(arch.name, [&](int l) { return l & ~(size - 1); });
      for (int cycles : {last, first}) {
        EXPECT_GT(cycles, 0) << arch.name << " " << size;
        EXPECT_LE(cycles, most) << arch.name << " " << size;
      }
    }
  EXPECT_EQ(CyclesOf("gfx942", [](int) { return 63; }), 8);
  EXPECT_EQ(CyclesOf("gfx942", [](int l) { return l | 31; }), 24);
  EXPECT_EQ(CyclesOf("gfx1100", [](int) { return 31; }), 8);
}

// The upper half of 2^(step + 1) lanes whose bits are strided.
TEST(LaneMoves, SwapsServeRowsOfSomeLanes) {
  EXPECT_EQ(CyclesOf("gfx950", [](int l) { return l & 32 ? (l & 7) | 24 : -1; }), 2 * 16 + 8);
  EXPECT_EQ(CyclesOf("gfx942", [](int l) { return l & 32 ? (l & 7) | 24 : -1; }), 0);
  EXPECT_EQ(CyclesOf("gfx942", [](int l) { return l & 16 ? (l & 39) | 8 : -1; }), 64);
}

TEST(LaneMoves, AreRightWhereverThereAreAny) {
  std::mt19937 random(1);
  int found = 0;
  for (const Architecture& arch : kArchitectures) {
    for (int i = 0; i < 400; ++i) {
      // Bits of lanes change places, are cleared, set or flipped; some lanes do not matter.
      const int bits = 1 + random() % 6, clear = random() % 64, flip = random() % 64, any = random() % 64;
      const int from = random() % bits, to = random() % bits;
      found += CyclesOf(arch.name, [&](int l) {
                 if ((l & any) == any && any != 0) return -1;
                 const int swapped = (l & ~(1 << from | 1 << to)) | (l >> from & 1) << to | (l >> to & 1) << from;
                 return ((swapped & (i % 3 ? 63 : clear)) ^ (i % 2 ? flip : 0)) % arch.lanes;
               }) > 0;
    }
  }
  EXPECT_GT(found, 400);
}

}  // namespace
}  // namespace tritond::compiler::amd
