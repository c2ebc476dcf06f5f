// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/shared_tiles.h"

#include <map>
#include <set>

#include "compiler/layout/random_layout.h"
#include "compiler/layout/shared_swizzle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

constexpr SharedMemoryShape kTiles{.tile_loads = true, .tile_stores = true};

LinearLayout Registers(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "register", out); }
LinearLayout Lanes(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "lane", out); }
LinearLayout Warps(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "warp", out); }

// By the manual's figures: the offset of element `element` of the word that `lane` holds of matrix `matrix`, when lane
// l gives the offset rows[l].
int OffsetOfElement(bool transposed, int element_bits, const std::vector<int>& rows, int matrix, int lane,
                    int element) {
  if (!transposed) return rows[8 * matrix + lane / 4] + (lane % 4) * (32 / element_bits) + element;
  const int per_half = 16 / element_bits;
  return rows[8 * matrix + 2 * (lane % 4) + element / per_half] + (lane / 4) * per_half + element % per_half;
}

// What tiles move is what `to_offset` says.
void ExpectMoves(const TilePlan& plan, const LinearLayout& to_offset, int bits) {
  std::set<int> moved;
  for (int warp = 0; warp < to_offset.InSize("warp"); ++warp) {
    for (int instruction = 0; instruction < plan.Instructions(); ++instruction) {
      std::vector<int> rows;
      for (int lane = 0; lane < 32; ++lane) {
        rows.push_back(plan.address.ApplyNamed({{"register", instruction}, {"lane", lane}, {"warp", warp}})[0]);
        ASSERT_EQ(rows.back() % (kTileRowBits / bits), 0);
      }
      for (int matrix = 0; matrix < 1 << plan.group_bits; ++matrix) {
        for (int element = 0; element < 32 / bits; ++element) {
          const int reg = plan.RegisterOf(instruction, matrix, element);
          moved.insert(reg);
          for (int lane = 0; lane < 32; ++lane)
            ASSERT_EQ(OffsetOfElement(plan.transposed, bits, rows, matrix, lane, element),
                      to_offset.ApplyNamed({{"register", reg}, {"lane", lane}, {"warp", warp}})[0])
                << to_offset.ToString() << " register " << reg << " lane " << lane;
        }
      }
    }
  }
  for (int r = 0; r < to_offset.InSize("register"); ++r) {
    int without_copies = r;
    for (int bit = 0; bit < to_offset.InBits("register"); ++bit)
      if (to_offset.Basis("register", bit, "offset") == 0) without_copies &= ~(1 << bit);
    EXPECT_EQ(moved.count(without_copies), 1u);
  }
}

TEST(SharedTiles, StraightWordsMayLieInAnyRegisters) {
  // Register bit 1 holds neighbours; bit 0 replicates.
  const auto layout = LinearLayout::FromBases(
      {{"register", {{0}, {1}, {8}}}, {"lane", {{2}, {4}, {16}, {32}, {64}}}, {"warp", {{128}}}}, {{"offset", 256}});
  const auto plan = PlanTiles(*layout, 16);
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->transposed);
  EXPECT_THAT(plan->word, testing::ElementsAre(1));
  EXPECT_THAT(plan->matrix, testing::ElementsAre(2));
  ExpectMoves(*plan, *layout, 16);
}

TEST(SharedTiles, TransposedBytesComeInPairs) {
  const auto layout = LinearLayout::FromBases(
      {{"register", {{16}, {1}, {128}}}, {"lane", {{32}, {64}, {2}, {4}, {8}}}, {"warp", {{256}}}}, {{"offset", 512}});
  const auto plan = PlanTiles(*layout, 8);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan->transposed);
  EXPECT_EQ(plan->word[0], 1);
  ExpectMoves(*plan, *layout, 8);
}

TEST(SharedTiles, ABitThatLanesMeetNamesMatricesOfAnInstruction) {
  // Four times eight rows of two groups of eight columns. The number of a group is swizzled by the row.
  const auto swizzled = LinearLayout::FromBases(
      {{"register", {{72}, {512}, {1024}, {8}}}, {"lane", {{144}, {288}, {1}, {2}, {4}}}, {"warp", {}}},
      {{"offset", 2048}});
  const auto plan = PlanTiles(*swizzled, 16, {}, /*few_addresses=*/true);
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->matrix, testing::ElementsAre(1, 3, 2));
  ExpectMoves(*plan, *swizzled, 16);
  EXPECT_THAT(PlanTiles(*swizzled, 16)->matrix, testing::ElementsAre(1, 2, 3));
  // Where nothing is swizzled, all addresses are numbers apart.
  const auto plain = LinearLayout::FromBases(
      {{"register", {{8}, {64}, {128}, {256}}}, {"lane", {{16}, {32}, {1}, {2}, {4}}}, {"warp", {}}},
      {{"offset", 512}});
  EXPECT_THAT(PlanTiles(*plain, 16, {}, /*few_addresses=*/true)->matrix, testing::ElementsAre(1, 2, 3));
}

TEST(SharedTiles, RowsThatOthersSplitAreNone) {
  const auto split = LinearLayout::FromBases(
      {{"register", {{1}}}, {"lane", {{2}, {4}, {16}, {32}, {64}}}, {"warp", {{12}}}}, {{"offset", 128}});
  EXPECT_FALSE(PlanTiles(*split, 16).has_value());
  const auto lone = LinearLayout::FromBases({{"register", {{8}}}, {"lane", {{2}, {4}, {16}, {32}, {64}}}, {"warp", {}}},
                                            {{"offset", 128}});
  EXPECT_FALSE(PlanTiles(*lone, 16).has_value());
}

TEST(SharedTiles, CopiesAreThoseThatOthersWriteToo) {
  const auto with = [](int reg, int warp) {
    return *LinearLayout::FromBases(
        {{"register", {{1}, {reg}}}, {"lane", {{2}, {4}, {8}, {16}, {32}}}, {"warp", {{warp}}}}, {{"offset", 256}});
  };
  EXPECT_FALSE(HoldsCopies(with(64, 128)));
  EXPECT_FALSE(HoldsCopies(with(0, 128)));
  EXPECT_TRUE(HoldsCopies(with(64, 0)));
  EXPECT_TRUE(HoldsCopies(with(32, 128)));
}

TEST(SharedTiles, ConflictsAreCounted) {
  const auto at = [](int stride) {
    return *LinearLayout::FromBases(
        {{"register", {{1}}}, {"lane", {{2}, {4}, {stride}, {2 * stride}, {4 * stride}}}, {"warp", {}}},
        {{"offset", 8 * stride}});
  };
  EXPECT_EQ(TileSlots(*PlanTiles(at(8), 16), 16), 5);
  EXPECT_EQ(TileSlots(*PlanTiles(at(32), 16), 16), 17);
  // Lanes alone, of the same layouts: 32 words are a phase.
  EXPECT_EQ(VectorSlots(at(8), 16, 2), 5);
  EXPECT_EQ(VectorSlots(at(32), 16, 2), 17);
  EXPECT_EQ(VectorSlots(at(8), 16, 1), 12);
}

// Columns on one side, rows on the other, an element a lane: as where addresses are not aligned.
TEST(SharedTiles, TransposesOfSixteenBitsStoreVectorsAndLoadTiles) {
  const LinearLayout src = Lanes(32, "x") * Warps(2, "x") * Registers(32, "y") * Warps(2, "y");
  const LinearLayout dst =
      (Lanes(32, "y") * Registers(32, "x") * Warps(2, "x") * Warps(2, "y")).TransposeOuts(src.OutNames());
  const auto swizzle = ChooseSwizzle(src, dst, 16, {.tile_loads = true});
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  EXPECT_EQ(swizzle->store_vec, 8);
  EXPECT_EQ(CountBankConflicts(swizzle->store, 16, 8), 0);
  const auto plan = PlanTiles(swizzle->load, 16);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan->transposed);
  EXPECT_EQ(TileSlots(*plan, 16), 4 * 17);
  const auto plain = ChooseSwizzle(src, dst, 16);
  EXPECT_GT(VectorSlots(plain->load, 16, plain->load_vec), 2 * TileSlots(*plan, 16));
}

// Sends every element through a memory, by tiles where they are cheaper.
void RoundTrip(const SharedSwizzle& swizzle, const LinearLayout& src, const LinearLayout& dst) {
  for (int offset = 0; offset < swizzle.memory.InSize("offset"); ++offset)
    ASSERT_EQ(swizzle.memory.Apply({offset}).size(), src.OutDims().size());
  const auto each = [&](const LinearLayout& map, const LinearLayout& side) {
    for (int warp = 0; warp < map.InSize("warp"); ++warp)
      for (int lane = 0; lane < map.InSize("lane"); ++lane)
        for (int r = 0; r < map.InSize("register"); ++r)
          ASSERT_EQ(swizzle.memory.Apply({map.Apply({r, lane, warp, 0})[0]}), side.Apply({r, lane, warp, 0}));
  };
  each(swizzle.store, src);
  each(swizzle.load, dst);
}

TEST(SharedTiles, RandomPairsCostNoMoreWithTilesThanWithout) {
  std::mt19937 rng(61);
  int cheaper = 0, straight = 0, transposed = 0;
  for (int round = 0; round < 800; ++round) {
    const int dim0 = RandomInt(rng, 3, 6), dim1 = RandomInt(rng, 3, 6), warps = RandomInt(rng, 0, 2);
    const auto random = [&](bool mixed) {
      const int registers = std::max(0, dim0 + dim1 - 5 - warps) + RandomInt(rng, 0, 1);
      return RandomSurjective(rng, {{"register", registers}, {"lane", 5}, {"warp", warps}, {"block", 0}},
                              {{"dim0", dim0}, {"dim1", dim1}}, mixed);
    };
    const LinearLayout src = random(round % 7 == 0), dst = random(round % 5 == 0);
    const int bits = 8 << RandomInt(rng, 0, 2);
    const auto with = ChooseSwizzle(src, dst, bits, kTiles), without = ChooseSwizzle(src, dst, bits);
    ASSERT_TRUE(with.ok()) << with.status();
    ASSERT_TRUE(with->memory.IsInvertible());
    RoundTrip(*with, src, dst);
    const auto slots = [&](const SharedSwizzle& swizzle, bool tiles) {
      return AccessSlots(swizzle.store, bits, swizzle.store_vec, tiles && !HoldsCopies(swizzle.store)) +
             AccessSlots(swizzle.load, bits, swizzle.load_vec, tiles);
    };
    EXPECT_LE(slots(*with, true), slots(*without, true));
    cheaper += slots(*with, true) < slots(*without, false);
    for (const LinearLayout* side : {&with->store, &with->load}) {
      const auto plan = PlanTiles(*side, bits);
      if (!plan) continue;
      ExpectMoves(*plan, *side, bits);
      (plan->transposed ? transposed : straight)++;
    }
    if (HasFatalFailure()) FAIL() << src.ToString() << "\n" << dst.ToString();
  }
  EXPECT_GT(cheaper, 80);
  EXPECT_GT(straight, 20);
  EXPECT_GT(transposed, 20);
}

// The conflict counts by which ways are compared are those that a simulation counts.
TEST(SharedTiles, SlotsOfVectorsAreThoseOfTheSimulation) {
  std::mt19937 rng(62);
  for (int round = 0; round < 500; ++round) {
    const LinearLayout map = RandomSurjective(rng, {{"register", 4}, {"lane", 5}, {"warp", 0}, {"block", 0}},
                                              {{"offset", RandomInt(rng, 6, 9)}}, round % 2 == 0);
    const int bits = 8 << RandomInt(rng, 0, 3), vec = LargestAccess(map, bits, 128);
    const double accesses = static_cast<double>(OrderByOffset(map).size()) / vec;
    const int phases = std::max(1, 32 * vec * bits / 1024), narrow = vec * bits < 32;
    const double cycles = accesses * phases + CountBankConflicts(map, bits, vec);
    EXPECT_EQ(VectorSlots(map, bits, vec), accesses * (1 + narrow) + 4 * cycles) << map.ToString();
  }
}

}  // namespace
}  // namespace tritond::compiler
