// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/shared_swizzle.h"

#include <map>

#include "compiler/layout/layout_algebra.h"
#include "compiler/layout/random_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

LinearLayout Registers(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "register", out); }
LinearLayout Lanes(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "lane", out); }
LinearLayout Warps(int size, absl::string_view out) { return LinearLayout::Identity1D(size, "warp", out); }

// A blocked layout of rows x cols elements: `vec` elements of a row in a thread, lanes along the row first, four warps
// down.
LinearLayout Blocked(int rows, int cols, int vec, absl::string_view row, absl::string_view col) {
  const int lanes = std::min(32, cols / vec);
  const LinearLayout tile = Registers(vec, col) * Lanes(lanes, col) * Lanes(32 / lanes, row) * Warps(4, row);
  return EnsureNotSmallerThan(EnsureNotLargerThan(tile, {{std::string(row), rows}}),
                              {{std::string(col), cols}, {std::string(row), rows}});
}

// Sends every element through a memory of each block, access by access, and compares what arrives.
void RoundTrip(const SharedSwizzle& swizzle, const LinearLayout& src, const LinearLayout& dst) {
  const auto accesses = [](const LinearLayout& map, int vec, auto body) {
    const std::vector<int32_t> order = OrderByOffset(map);
    ASSERT_EQ(order.size() % vec, 0u);
    for (int block = 0; block < map.InSize("block"); ++block) {
      for (int warp = 0; warp < map.InSize("warp"); ++warp) {
        for (int lane = 0; lane < map.InSize("lane"); ++lane) {
          for (size_t i = 0; i < order.size(); ++i) {
            const int first = map.Apply({order[i / vec * vec], lane, warp, block})[0];
            ASSERT_EQ(first % vec, 0);
            ASSERT_EQ(map.Apply({order[i], lane, warp, block})[0], first + static_cast<int>(i % vec));
            body(Coordinates{order[i], lane, warp, block}, first + static_cast<int>(i % vec));
          }
        }
      }
    }
  };
  std::map<std::pair<int, int>, Coordinates> memory;
  accesses(swizzle.store, swizzle.store_vec, [&](const Coordinates& at, int offset) {
    const auto [it, fresh] = memory.emplace(std::make_pair(at[3], offset), src.Apply(at));
    ASSERT_EQ(it->second, src.Apply(at));
    if (at[3] == 0) {
      ASSERT_EQ(swizzle.memory.Apply({offset}), src.Apply(at));
    }
  });
  accesses(swizzle.load, swizzle.load_vec, [&](const Coordinates& at, int offset) {
    const auto it = memory.find({at[3], offset});
    ASSERT_NE(it, memory.end());
    ASSERT_EQ(it->second, dst.Apply(at));
  });
}

// The conflicts of row-major memory without swizzle, with scalar accesses.
int64_t PlainConflicts(const LinearLayout& layout, int bits) {
  const LinearLayout plain = layout.FlattenOuts("offset");
  return CountBankConflicts(plain, bits, LargestAccess(plain, bits, 128));
}

LinearLayout WithBlocks(const LinearLayout& layout) {
  return layout * LinearLayout::Zeros1D(1, "block", layout.OutNames()[0]);
}

struct TransposeCase {
  int rows, cols, src_vec, dst_vec, bits;
};

class TransposeTest : public ::testing::TestWithParam<TransposeCase> {};

TEST_P(TransposeTest, IsFreeOfConflictsAndArrives) {
  const TransposeCase& c = GetParam();
  const LinearLayout src = WithBlocks(Blocked(c.rows, c.cols, c.src_vec, "dim0", "dim1"));
  const LinearLayout dst = WithBlocks(Blocked(c.cols, c.rows, c.dst_vec, "dim1", "dim0")).TransposeOuts(src.OutNames());
  const auto swizzle = ChooseSwizzle(src, dst, c.bits);
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  RoundTrip(*swizzle, src, dst);
  EXPECT_EQ(CountBankConflicts(swizzle->store, c.bits, swizzle->store_vec), 0);
  EXPECT_EQ(CountBankConflicts(swizzle->load, c.bits, swizzle->load_vec), 0);
  EXPECT_GT(PlainConflicts(src, c.bits) + PlainConflicts(dst, c.bits), 0);
}

INSTANTIATE_TEST_SUITE_P(Blocked, TransposeTest,
                         ::testing::Values(TransposeCase{32, 32, 1, 1, 32}, TransposeCase{64, 64, 4, 4, 32},
                                           TransposeCase{64, 64, 2, 2, 64}, TransposeCase{64, 64, 8, 8, 16},
                                           TransposeCase{128, 128, 16, 16, 8}, TransposeCase{128, 64, 8, 4, 16},
                                           TransposeCase{64, 64, 1, 1, 16}, TransposeCase{128, 128, 1, 1, 8},
                                           TransposeCase{64, 128, 4, 1, 32}, TransposeCase{32, 32, 1, 1, 64},
                                           TransposeCase{128, 256, 2, 16, 8}, TransposeCase{16, 64, 4, 4, 8}));

TEST(SharedSwizzle, CommonRegistersMakeTheVectors) {
  // Both sides hold eight 16-bit elements of a row in a thread; lanes and warps differ.
  const LinearLayout src = Registers(8, "dim1") * Lanes(8, "dim1") * Lanes(4, "dim0") * Warps(4, "dim0");
  const LinearLayout dst = Registers(8, "dim1") * Lanes(16, "dim0") * Lanes(2, "dim1") * Warps(4, "dim1");
  const auto swizzle = ChooseSwizzle(src, dst, 16);
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  EXPECT_EQ(swizzle->store_vec, 8);
  EXPECT_EQ(swizzle->load_vec, 8);
  EXPECT_EQ(CountBankConflicts(swizzle->store, 16, 8), 0);
  EXPECT_EQ(CountBankConflicts(swizzle->load, 16, 8), 0);
  EXPECT_THAT(OrderByOffset(swizzle->store), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// As mma's accumulators of 16 bits on their way to a store by rows. The four lanes of a row hold what one lane reads at
// once.
TEST(SharedSwizzle, LanesSideBySideMakeTheOtherSideWide) {
  const LinearLayout accumulators = EnsureNotSmallerThan(
      Registers(2, "x") * Lanes(4, "x") * Lanes(8, "y") * Registers(2, "y") * Warps(4, "y"), {{"x", 64}, {"y", 64}});
  const auto swizzle = ChooseSwizzle(accumulators, Blocked(64, 64, 8, "y", "x"), 16);
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  EXPECT_EQ(swizzle->store_vec, 2);
  EXPECT_EQ(swizzle->load_vec, 8);
  EXPECT_EQ(CountBankConflicts(swizzle->store, 16, 2), 0);
  EXPECT_EQ(CountBankConflicts(swizzle->load, 16, 8), 0);
}

TEST(SharedSwizzle, BytesInRowsAndColumnsAreWordsOnOneSide) {
  const LinearLayout src = Registers(4, "dim1") * Lanes(8, "dim1") * Lanes(4, "dim0") * Warps(4, "dim0");
  const LinearLayout dst = Lanes(32, "dim1") * Registers(4, "dim0") * Warps(4, "dim0");
  const auto swizzle = ChooseSwizzle(src, dst, 8);
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  EXPECT_EQ(swizzle->store_vec, 4);
  EXPECT_EQ(swizzle->load_vec, 1);
  EXPECT_EQ(CountBankConflicts(swizzle->load, 8, 1), 0);
}

TEST(SharedSwizzle, ReplicatedRegistersAreStoredOnce) {
  const LinearLayout src =
      LinearLayout::Zeros1D(2, "register", "dim0") * Registers(2, "dim0") * Lanes(32, "dim0") * Warps(2, "dim0");
  const LinearLayout dst = Lanes(32, "dim0") * Registers(2, "dim0") * Warps(2, "dim0");
  const auto swizzle = ChooseSwizzle(src, dst, 32);
  ASSERT_TRUE(swizzle.ok()) << swizzle.status();
  std::vector<int32_t> order = OrderByOffset(swizzle->store);
  std::sort(order.begin(), order.end());
  EXPECT_THAT(order, ElementsAre(0, 2));
}

TEST(SharedSwizzle, RefusesOddElementsAndDataOfOtherBlocks) {
  const LinearLayout layout = Registers(2, "dim0") * Lanes(32, "dim0");
  EXPECT_FALSE(ChooseSwizzle(layout, layout, 4).ok());
  EXPECT_FALSE(ChooseSwizzle(layout, layout, 128).ok());
  EXPECT_FALSE(ChooseSwizzle(layout, Registers(4, "dim0") * Lanes(32, "dim0"), 32).ok());
  const LinearLayout block = LinearLayout::Identity1D(2, "block", "dim0");
  EXPECT_FALSE(ChooseSwizzle(layout * block, block * layout, 32).ok());
  EXPECT_TRUE(ChooseSwizzle(layout * block, layout * block, 32).ok());
}

TEST(SharedSwizzle, CountsConflictsAsTheHardwareDoes) {
  // 32 lanes, one 32-bit element each.
  const auto count = [](const LinearLayout& layout, int bits, int vec) {
    return CountBankConflicts(layout, bits, vec);
  };
  const auto lanes = [](int stride) {
    return Registers(1, "offset") * LinearLayout::Zeros1D(1, "warp", "offset") *
           LinearLayout::Strided1D(32, stride, "lane", "offset");
  };
  EXPECT_EQ(count(lanes(1), 32, 1), 0);
  EXPECT_EQ(count(lanes(2), 32, 1), 1);
  EXPECT_EQ(count(lanes(32), 32, 1), 31);
  EXPECT_EQ(count(LinearLayout::Zeros1D(32, "lane", "offset") * Registers(1, "offset") * Warps(1, "offset"), 32, 1), 0);
  EXPECT_EQ(count(lanes(1), 8, 1), 0);
  EXPECT_EQ(count(lanes(4), 8, 1), 0);
  EXPECT_EQ(count(lanes(8), 8, 1), 1);
  // 64 bits a lane: two phases of sixteen lanes, 128 bits: four phases of eight.
  EXPECT_EQ(count(lanes(1), 64, 1), 0);
  EXPECT_EQ(count(lanes(2), 64, 1), 2);
  const auto wide = [](int stride) {
    return Registers(4, "offset") * LinearLayout::Strided1D(32, stride, "lane", "offset") * Warps(1, "offset");
  };
  EXPECT_EQ(count(wide(1), 32, 4), 0);
  EXPECT_EQ(count(wide(2), 32, 4), 4);
}

TEST(SharedSwizzle, LargestAccessNeedsAlignedRunsInEveryThread) {
  const LinearLayout registers = Registers(4, "offset") * Lanes(32, "offset");
  EXPECT_EQ(LargestAccess(registers, 32, 128), 4);
  EXPECT_EQ(LargestAccess(registers, 64, 128), 2);
  EXPECT_EQ(LargestAccess(Lanes(32, "offset") * Registers(4, "offset"), 32, 128), 1);
  const auto swapped = LinearLayout::FromBases({{"register", {{2}, {3}}}, {"lane", {{4}}}}, {{"offset", 8}});
  EXPECT_EQ(LargestAccess(*swapped, 32, 128), 4);
  EXPECT_THAT(OrderByOffset(*swapped), ElementsAre(0, 3, 1, 2));
  const auto touched = LinearLayout::FromBases({{"register", {{1}, {2}}}, {"lane", {{6}}}}, {{"offset", 8}});
  EXPECT_EQ(LargestAccess(*touched, 32, 128), 2);
}

TEST(SharedSwizzle, RandomPairsArriveWithoutConflicts) {
  std::mt19937 rng(51);
  int64_t plain = 0;
  int vectors = 0;
  for (int iteration = 0; iteration < 1500; ++iteration) {
    const int dim0 = RandomInt(rng, 1, 5), dim1 = RandomInt(rng, 1, 5), warps = RandomInt(rng, 0, 2);
    const auto random = [&](bool mixed) {
      const int registers = std::max(0, dim0 + dim1 - 5 - warps) + RandomInt(rng, 0, 1);
      return RandomSurjective(rng, {{"register", registers}, {"lane", 5}, {"warp", warps}, {"block", 0}},
                              {{"dim0", dim0}, {"dim1", dim1}}, mixed);
    };
    const LinearLayout src = random(iteration % 3 == 0), dst = random(iteration % 2 == 0);
    const int bits = 8 << RandomInt(rng, 0, 3);
    const auto swizzle = ChooseSwizzle(src, dst, bits);
    ASSERT_TRUE(swizzle.ok()) << swizzle.status();
    ASSERT_TRUE(swizzle->memory.IsInvertible());
    RoundTrip(*swizzle, src, dst);
    if (HasFatalFailure()) FAIL() << src.ToString() << "\n" << dst.ToString();
    ASSERT_EQ(CountBankConflicts(swizzle->store, bits, swizzle->store_vec), 0) << src.ToString() << "\n"
                                                                               << dst.ToString();
    ASSERT_EQ(CountBankConflicts(swizzle->load, bits, swizzle->load_vec), 0) << src.ToString() << "\n"
                                                                             << dst.ToString();
    plain += PlainConflicts(src, bits) + PlainConflicts(dst, bits);
    vectors += swizzle->store_vec > 1 && swizzle->load_vec > 1;
  }
  EXPECT_GT(plain, 1000);
  EXPECT_GT(vectors, 100);
}

TEST(SharedSwizzle, EachBlockHasItsOwnMemory) {
  std::mt19937 rng(52);
  int done = 0;
  for (int iteration = 0; iteration < 600; ++iteration) {
    const LinearLayout src = RandomSurjective(rng, {{"register", 2}, {"lane", 2}, {"warp", 1}, {"block", 1}},
                                              {{"dim0", 3}, {"dim1", RandomInt(rng, 1, 3)}}, true);
    // The same block, with elements changed about.
    LinearLayout::Columns columns = src.columns();
    std::shuffle(columns.begin(), columns.begin() + 5, rng);
    for (int i = 0; i < 5; ++i) {
      if (RandomInt(rng, 0, 1) == 1) columns[5] ^= columns[i];
    }
    const LinearLayout dst = LinearLayout::FromColumns(src.InDims(), src.OutDims(), columns);
    const auto swizzle = ChooseSwizzle(src, dst, 32);
    ASSERT_TRUE(swizzle.ok()) << swizzle.status();
    RoundTrip(*swizzle, src, dst);
    if (HasFatalFailure()) FAIL() << src.ToString() << "\n" << dst.ToString();
    done += swizzle->memory.TotalInBits() < src.TotalOutBits();
  }
  EXPECT_GT(done, 100);
}

}  // namespace
}  // namespace tritond::compiler
