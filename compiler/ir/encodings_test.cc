// SPDX-License-Identifier: Apache-2.0
// Encodings as linear layouts: examples with every element checked, and properties of thousands of random ones.
#include "compiler/ir/encodings.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/ir/layout_memory.h"
#include "compiler/ir/test_context.h"

namespace tritond::ttg {
namespace {

using compiler::LinearLayout;

class Encodings : public testing::Test {
 protected:
  BlockedEncodingAttr Blocked(llvm::ArrayRef<unsigned> size, llvm::ArrayRef<unsigned> lanes,
                              llvm::ArrayRef<unsigned> warps, llvm::ArrayRef<unsigned> order) {
    return BlockedEncodingAttr::get(context_.get(), size, lanes, warps, order);
  }
  SwizzledSharedEncodingAttr Swizzled(unsigned vec, unsigned per_phase, unsigned max_phase,
                                      llvm::ArrayRef<unsigned> order) {
    return SwizzledSharedEncodingAttr::get(context_.get(), vec, per_phase, max_phase, order);
  }

  std::unique_ptr<mlir::MLIRContext> context_ = compiler::MakeTestContext();
};

// The element that `registers`, `lane` and `warp` name.
llvm::SmallVector<int64_t> At(const LinearLayout& layout, int reg, int lane, int warp) {
  llvm::SmallVector<int64_t> coordinates;
  for (const auto& out : layout.OutDims()) {
    int64_t value = 0;
    auto add = [&](const char* in, int index) {
      for (int bit = 0; bit < layout.InBits(in); ++bit)
        if (index >> bit & 1) value ^= layout.Basis(in, bit, out.name);
    };
    add("register", reg), add("lane", lane), add("warp", warp);
    coordinates.push_back(value);
  }
  return coordinates;
}

using Coordinates = llvm::SmallVector<int64_t>;

TEST_F(Encodings, BlockedOfSixteenBySixteenIsOneTileOfTheBlock) {
  // Two elements a thread, eight lanes a row, four rows a warp, four warps: the tile is 16x16.
  LinearLayout layout = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0}).ToLinearLayout({16, 16});
  EXPECT_EQ(layout.InSize("register"), 2);
  EXPECT_EQ(layout.InSize("lane"), 32);
  EXPECT_EQ(layout.InSize("warp"), 4);
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 32; ++lane)
      for (int reg = 0; reg < 2; ++reg)
        EXPECT_EQ(At(layout, reg, lane, warp), (Coordinates{warp * 4 + lane / 8, lane % 8 * 2 + reg}));
}

TEST_F(Encodings, BlockedOfThirtyTwoByThirtyTwoRepeatsTheTile) {
  LinearLayout layout = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0}).ToLinearLayout({32, 32});
  EXPECT_EQ(layout.InSize("register"), 8);
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < 8; ++reg) {
        // Registers beyond the tile: to the right first, then down.
        int row = warp * 4 + lane / 8 + reg / 4 * 16, column = lane % 8 * 2 + reg % 2 + reg / 2 % 2 * 16;
        EXPECT_EQ(At(layout, reg, lane, warp), (Coordinates{row, column}));
      }
    }
  }
}

// The documentation's examples: each thread holds 2x2 neighbours. Over 16x16, threads 0 0 1 1 2 2 3 3 ; 32 32 33 33 34
// 34 35 35 hold the first two rows. Threads 4 4 5 5 6 6 7 7 ; 36 … hold the next two. Over 32x32 the same comes four
// times.
TEST_F(Encodings, BlockedHasThePublishedTables) {
  for (int64_t size : {16, 32}) {
    LinearLayout layout = Blocked({2, 2}, {8, 4}, {1, 2}, {1, 0}).ToLinearLayout({size, size});
    std::vector<int> holders(size * size, -1);
    for (int warp = 0; warp < 2; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < layout.InSize("register"); ++reg) {
          Coordinates at = At(layout, reg, lane, warp);
          EXPECT_EQ(holders[at[0] * size + at[1]], -1);
          holders[at[0] * size + at[1]] = warp * 32 + lane;
        }
    const int columns[] = {0, 0, 1, 1, 2, 2, 3, 3, 32, 32, 33, 33, 34, 34, 35, 35};
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column)
        EXPECT_EQ(holders[row * size + column], columns[column % 16] + row % 16 / 2 * 4) << row << ", " << column;
  }
}

// Element i of a tensor belongs to all threads T[(i + k * shape) % shape of T]. With T the 4x4 threads in rows, element
// (1, 3) of a 2x8 tensor belongs to T[1, 3] and T[3, 3].
TEST_F(Encodings, ElementsBelongToTheThreadsOfTheIndexFunction) {
  LinearLayout layout = Blocked({1, 1}, {4, 4}, {1, 1}, {1, 0}).ToLinearLayout({2, 8});
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 8; ++column) {
      std::vector<int> threads;
      for (int lane = 0; lane < 16; ++lane)
        for (int reg = 0; reg < layout.InSize("register"); ++reg)
          if (At(layout, reg, lane, 0) == (Coordinates{row, column})) threads.push_back(lane);
      EXPECT_EQ(threads, (std::vector<int>{row * 4 + column % 4, (row + 2) * 4 + column % 4}));
    }
}

TEST_F(Encodings, BlockedLargerThanTheTensorHoldsCopies) {
  LinearLayout layout = Blocked({1}, {32}, {4}, {0}).ToLinearLayout({16});
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(At(layout, 0, lane, warp), (Coordinates{lane % 16}));
}

TEST_F(Encodings, BlockedInColumnOrderFillsColumnsFirst) {
  LinearLayout layout = Blocked({2, 1}, {8, 4}, {1, 4}, {0, 1}).ToLinearLayout({16, 16});
  EXPECT_EQ(At(layout, 1, 0, 0), (Coordinates{1, 0}));
  EXPECT_EQ(At(layout, 0, 1, 0), (Coordinates{2, 0}));
  EXPECT_EQ(At(layout, 0, 8, 0), (Coordinates{0, 1}));
  EXPECT_EQ(At(layout, 0, 0, 1), (Coordinates{0, 4}));
}

TEST_F(Encodings, SliceDropsTheDimensionOfItsParent) {
  auto parent = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout columns = SliceEncodingAttr::get(context_.get(), 0, parent).ToLinearLayout({16});
  LinearLayout rows = SliceEncodingAttr::get(context_.get(), 1, parent).ToLinearLayout({16});
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(At(columns, 0, lane, warp), (Coordinates{lane % 8 * 2}));
      EXPECT_EQ(At(columns, 1, lane, warp), (Coordinates{lane % 8 * 2 + 1}));
      EXPECT_EQ(At(rows, 0, lane, warp), (Coordinates{warp * 4 + lane / 8}));
    }
  }
}

// PTX ISA, "Matrix fragments for mma.m16n8k16" and its neighbours, for two warps along each dimension.
TEST_F(Encodings, NvidiaMmaPlacesFragmentsAsThePtxManualSays) {
  auto mma = NvidiaMmaEncodingAttr::get(context_.get(), 2, 0, {2, 2}, {16, 8});
  LinearLayout c = mma.ToLinearLayout({32, 16});
  ASSERT_EQ(c.InSize("register"), 4);
  for (int w : {1, 2, 4}) {  // elements a word: tf32, f16, s8
    LinearLayout a = DotOperandEncodingAttr::get(context_.get(), 0, mma, w).ToLinearLayout({32, 8 * w});
    LinearLayout b = DotOperandEncodingAttr::get(context_.get(), 1, mma, w).ToLinearLayout({8 * w, 16});
    ASSERT_EQ(a.InSize("register"), 4 * w);
    ASSERT_EQ(b.InSize("register"), 2 * w);
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; ++lane) {
        int g = lane / 4, t = lane % 4, m0 = warp / 2 * 16, n0 = warp % 2 * 8;
        for (int r = 0; r < 4; ++r)
          EXPECT_EQ(At(c, r, lane, warp), (Coordinates{m0 + g + r / 2 * 8, n0 + 2 * t + r % 2}));
        for (int r = 0; r < 4 * w; ++r)
          EXPECT_EQ(At(a, r, lane, warp), (Coordinates{m0 + g + r / w % 2 * 8, t * w + r % w + r / (2 * w) * 4 * w}));
        for (int r = 0; r < 2 * w; ++r)
          EXPECT_EQ(At(b, r, lane, warp), (Coordinates{t * w + r % w + r / w * 4 * w, n0 + g}));
      }
  }
}

TEST_F(Encodings, DotOperandHoldsAllOfKForItsRows) {
  auto parent = Blocked({1, 1}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout a = DotOperandEncodingAttr::get(context_.get(), 0, parent, 0).ToLinearLayout({16, 8});
  LinearLayout b = DotOperandEncodingAttr::get(context_.get(), 1, parent, 0).ToLinearLayout({8, 8});
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int k = 0; k < 8; ++k) {
        EXPECT_EQ(At(a, k, lane, warp), (Coordinates{warp * 4 + lane / 8, k}));
        EXPECT_EQ(At(b, k, lane, warp), (Coordinates{k, lane % 8}));
      }
    }
  }
}

TEST_F(Encodings, SwizzleMovesGroupsByTheRowsPhase) {
  // Groups of 2 of 8 columns; the phase changes every row and repeats after 4.
  LinearLayout layout = Swizzled(2, 1, 4, {1, 0}).ToLinearLayout({8, 8});
  for (int row = 0; row < 8; ++row) {
    for (int place = 0; place < 8; ++place) {
      int64_t r = 0, c = 0;
      for (int bit = 0; bit < 6; ++bit) {
        if (!((row * 8 + place) >> bit & 1)) continue;
        r ^= layout.Basis("offset", bit, "dim0");
        c ^= layout.Basis("offset", bit, "dim1");
      }
      EXPECT_EQ(r, row);
      EXPECT_EQ(c, ((place / 2) ^ (row % 4)) * 2 + place % 2);
    }
  }
}

TEST_F(Encodings, LinearLayoutIsTakenAsItIs) {
  auto layout = LinearLayout::FromBases(
      {{"register", {{0, 1}}}, {"lane", {{1, 0}, {2, 0}}}, {"warp", {}}, {"block", {}}}, {{"dim0", 4}, {"dim1", 2}});
  ASSERT_TRUE(layout.ok());
  auto encoding = LinearEncodingAttr::get(context_.get(), *layout);
  EXPECT_EQ(encoding.ToLinearLayout({4, 2}), *layout);
  // On a larger tensor more registers cover the rest.
  EXPECT_EQ(encoding.ToLinearLayout({4, 8}).InSize("register"), 8);
}

TEST_F(Encodings, ForShapeSpreadsLanesAndWarpsFromTheFastestDimension) {
  EXPECT_EQ(BlockedEncodingAttr::ForShape(context_.get(), {128, 64}, {1, 1}, {1, 0}, 4, 32),
            Blocked({1, 1}, {1, 32}, {2, 2}, {1, 0}));
  EXPECT_EQ(BlockedEncodingAttr::ForShape(context_.get(), {128, 64}, {1, 8}, {1, 0}, 4, 32),
            Blocked({1, 8}, {4, 8}, {4, 1}, {1, 0}));
  // Too small for all threads: the slowest dimension takes what is left.
  EXPECT_EQ(BlockedEncodingAttr::ForShape(context_.get(), {16}, {1}, {0}, 4, 32), Blocked({1}, {32}, {4}, {0}));
}

TEST_F(Encodings, ShapeOperationsMoveNoElement) {
  // trans of [[0, 1], [2, 3]] by one thread: registers keep their order, coordinates swap.
  auto blocked = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0});
  mlir::Attribute transposed = TransEncoding(blocked, {16, 16}, {1, 0});
  EXPECT_EQ(transposed, Blocked({2, 1}, {8, 4}, {1, 4}, {0, 1}));
  EXPECT_EQ(TransEncoding(transposed, {16, 16}, {1, 0}), blocked);
  auto joined = llvm::cast<DistributedEncoding>(JoinEncoding(blocked, {16, 16})).ToLinearLayout({16, 16, 2});
  EXPECT_EQ(At(joined, 1, 0, 0), (Coordinates{0, 0, 1}));
  EXPECT_EQ(At(joined, 2, 0, 0), (Coordinates{0, 1, 0}));
  EXPECT_TRUE(SamePlacement({16, 16}, SplitEncoding(JoinEncoding(blocked, {16, 16}), {16, 16, 2}), blocked));
  // The second register bit tells the elements of a pair apart, or a lane's.
  auto second = Blocked({1, 2, 2}, {4, 8, 1}, {4, 1, 1}, {1, 2, 0}),
       lanes = Blocked({1, 2, 1}, {4, 4, 2}, {4, 1, 1}, {2, 1, 0});
  EXPECT_TRUE(SamePlacement({16, 16}, SplitEncoding(second, {16, 16, 2}), blocked));
  EXPECT_FALSE(SplitEncoding(lanes, {16, 16, 2}));
  // Bytes of two floats: along dimension 1 threads hold both, along dimension 0 they do not.
  EXPECT_TRUE(SamePlacement({16, 8}, Fp4FromFpEncoding(blocked, {16, 16}, 1), Blocked({1, 1}, {4, 8}, {4, 1}, {1, 0})));
  EXPECT_FALSE(Fp4FromFpEncoding(blocked, {16, 16}, 0));
  auto flat = llvm::cast<DistributedEncoding>(ReshapeEncoding(blocked, {16, 16}, {256})).ToLinearLayout({256});
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(At(flat, 1, lane, 2), (Coordinates{(8 + lane / 8) * 16 + lane % 8 * 2 + 1}));
}

// Random encodings: powers of two whose product is what a block has.
class RandomEncodings : public Encodings {
 protected:
  unsigned Any(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }

  // `total` split over `rank` factors.
  llvm::SmallVector<unsigned> Split(unsigned total, unsigned rank) {
    llvm::SmallVector<unsigned> parts(rank, 1);
    for (; total > 1; total /= 2) parts[Any(rank)] *= 2;
    return parts;
  }
  llvm::SmallVector<unsigned> Order(unsigned rank) {
    llvm::SmallVector<unsigned> order;
    for (unsigned dim = 0; dim < rank; ++dim) order.push_back(dim);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }
  llvm::SmallVector<int64_t> Shape(unsigned rank) {
    llvm::SmallVector<int64_t> shape;
    for (unsigned dim = 0; dim < rank; ++dim) shape.push_back(int64_t{1} << Any(rank > 2 ? 5 : 8));
    return shape;
  }
  BlockedEncodingAttr AnyBlocked(unsigned rank) {
    return Blocked(Split(1u << Any(5), rank), Split(32, rank), Split(1u << Any(4), rank), Order(rank));
  }

  std::mt19937 random_{7};
};

void ExpectCovers(const LinearLayout& layout, llvm::ArrayRef<int64_t> shape) {
  EXPECT_TRUE(layout.IsSurjective()) << layout.ToString();
  ASSERT_EQ(layout.OutDims().size(), shape.size());
  for (auto [dim, size] : llvm::zip(layout.OutDims(), shape)) EXPECT_EQ(dim.size(), size) << layout.ToString();
}

TEST_F(RandomEncodings, ReachEveryElement) {
  for (int i = 0; i < 3000; ++i) {
    unsigned rank = 1 + Any(3);
    auto shape = Shape(rank);
    auto blocked = AnyBlocked(rank);
    ExpectCovers(blocked.ToLinearLayout(shape), shape);
    if (rank == 1) continue;
    ExpectCovers(DotOperandEncodingAttr::get(context_.get(), Any(2), blocked, 0).ToLinearLayout(shape), shape);
    llvm::SmallVector<unsigned> tile(rank, 1);
    tile[rank - 2] = 16, tile[rank - 1] = 8;
    auto mma = NvidiaMmaEncodingAttr::get(context_.get(), 2, 0, Split(1u << Any(4), rank), tile);
    ExpectCovers(mma.ToLinearLayout(shape), shape);
    ExpectCovers(DotOperandEncodingAttr::get(context_.get(), Any(2), mma, 1u << Any(4)).ToLinearLayout(shape), shape);
    unsigned dim = Any(rank);
    auto rest = shape;
    rest.erase(rest.begin() + dim);
    ExpectCovers(SliceEncodingAttr::get(context_.get(), dim, blocked).ToLinearLayout(rest), rest);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(RandomEncodings, SharedOnesHaveOnePlaceForEachElement) {
  for (int i = 0; i < 3000; ++i) {
    unsigned rank = 1 + Any(3);
    auto shape = Shape(rank);
    LinearLayout layout = Swizzled(1u << Any(5), 1u << Any(3), 1u << Any(4), Order(rank)).ToLinearLayout(shape);
    ExpectCovers(layout, shape);
    int64_t elements = 1;
    for (int64_t size : shape) elements *= size;
    EXPECT_EQ(layout.InSize("offset"), elements);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(RandomEncodings, ShapeOperationsUndoEachOther) {
  for (int i = 0; i < 2000; ++i) {
    unsigned rank = 1 + Any(3);
    auto shape = Shape(rank);
    mlir::Attribute encoding = AnyBlocked(rank);
    auto order = Order(rank);
    llvm::SmallVector<int32_t> forth(order.begin(), order.end()), back(rank);
    llvm::SmallVector<int64_t> permuted;
    for (unsigned dim = 0; dim < rank; ++dim) {
      back[forth[dim]] = dim;
      permuted.push_back(shape[forth[dim]]);
    }
    EXPECT_TRUE(SamePlacement(shape, TransEncoding(TransEncoding(encoding, shape, forth), permuted, back), encoding));
    int64_t elements = 1;
    for (int64_t size : shape) elements *= size;
    EXPECT_TRUE(SamePlacement(shape, ReshapeEncoding(ReshapeEncoding(encoding, shape, {elements}), {elements}, shape),
                              encoding));
    auto joined = shape;
    joined.push_back(2);
    mlir::Attribute split = SplitEncoding(JoinEncoding(encoding, shape), joined);
    ASSERT_TRUE(split);
    EXPECT_TRUE(SamePlacement(shape, split, encoding));
    for (unsigned axis = 0; axis < rank; ++axis) {
      auto unpacked = shape;
      unpacked[axis] *= 2;
      mlir::Attribute floats = Fp4ToFpEncoding(encoding, shape, axis);
      EXPECT_TRUE(SamePlacement(shape, Fp4FromFpEncoding(floats, unpacked, axis), encoding));
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(Encodings, LayoutsAreMadeOnceForEachShape) {
  auto blocked = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0});
  int made = 0;
  auto recall = [&](llvm::ArrayRef<int64_t> shape) {
    return LayoutMemory::Recall(blocked, shape, [&] {
      ++made;
      return LinearLayout::Identity1D(static_cast<int32_t>(shape[0]), "register", "dim0");
    });
  };
  EXPECT_EQ(recall({512, 7}), recall({512, 7}));
  EXPECT_EQ(made, 1);
  EXPECT_NE(recall({512, 7}), recall({256, 7}));
  EXPECT_EQ(made, 2);
}

TEST_F(Encodings, LayoutsAreForgottenWhereTheyAreTooMany) {
  auto blocked = Blocked({1, 2}, {4, 8}, {4, 1}, {1, 0});
  auto* memory = blocked.getDialect().getRegisteredInterface<LayoutMemory>();
  const LinearLayout layout = blocked.ToLinearLayout({16, 16});
  for (int64_t size = 1; size <= 10000; ++size) LayoutMemory::Recall(blocked, {size, size}, [&] { return layout; });
  EXPECT_LT(memory->size(), 5000u);
  EXPECT_EQ(blocked.ToLinearLayout({16, 16}), layout);
}

}  // namespace
}  // namespace tritond::ttg
