// SPDX-License-Identifier: Apache-2.0
// Fragments of matrix units against their manuals, and properties of thousands of random encodings, clusters included.
#include "compiler/ir/layout_test_support.h"
#include "compiler/ir/test_context.h"

namespace tritond::ttg {
namespace {

using compiler::LinearLayout;

class MatrixLayouts : public testing::Test {
 protected:
  DotOperandEncodingAttr Operand(unsigned index, mlir::Attribute parent, unsigned k_width) {
    return DotOperandEncodingAttr::get(&context(), index, llvm::cast<DistributedEncoding>(parent), k_width);
  }
  AmdMfmaEncodingAttr Mfma(llvm::ArrayRef<unsigned> warps, llvm::ArrayRef<unsigned> instr, bool transposed,
                           unsigned bits = 32) {
    llvm::SmallVector<unsigned> tiles(warps.size(), 1);
    return AmdMfmaEncodingAttr::get(&context(), 3, warps, instr, transposed, tiles, bits, SingleBlock(warps.size()));
  }
  AmdWmmaEncodingAttr Wmma(unsigned version, bool transposed) {
    LinearLayout tiles = LinearLayout::Identity1D(1, "register", "dim0") * LinearLayout::Identity1D(2, "warp", "dim0") *
                         LinearLayout::Identity1D(1, "register", "dim1") * LinearLayout::Identity1D(2, "warp", "dim1");
    return AmdWmmaEncodingAttr::get(&context(), version, transposed, tiles, {16, 16, 16}, SingleBlock(2));
  }
  DpasEncodingAttr Dpas(unsigned execution, unsigned ops, unsigned lanes, llvm::ArrayRef<unsigned> warps,
                        llvm::ArrayRef<unsigned> cluster, LinearLayout cga) {
    return DpasEncodingAttr::get(&context(), 8, 8, execution, ops, lanes, warps, cluster, cga);
  }
  mlir::MLIRContext& context() { return *context_; }

  std::unique_ptr<mlir::MLIRContext> context_ = compiler::MakeTestContext();
};

// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": accumulators and operand a.
TEST_F(MatrixLayouts, NvidiaVersion3PlacesAccumulatorsOfWarpGroups) {
  auto mma = NvidiaMmaEncodingAttr::get(&context(), 3, 0, {8, 1}, {16, 64, 16});
  LinearLayout c = mma.ToLinearLayout({128, 128}), a = Operand(0, mma, 2).ToLinearLayout({128, 16});
  ASSERT_EQ(c.InSize("register"), 64);
  ASSERT_EQ(a.InSize("register"), 8);
  for (int warp = 0; warp < 8; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      int row = warp / 4 * 64 + warp % 4 * 16 + lane / 4;
      for (int r = 0; r < 64; ++r)
        EXPECT_EQ(At(c, r, lane, warp),
                  (Coordinates{row + r / 2 % 2 * 8, r / 32 * 64 + r % 32 / 4 * 8 + lane % 4 * 2 + r % 2}));
      for (int r = 0; r < 8; ++r)
        EXPECT_EQ(At(a, r, lane, warp), (Coordinates{row + r / 2 % 2 * 8, r / 4 * 8 + lane % 4 * 2 + r % 2}));
    }
  }
}

// PTX ISA, "Matrix fragments for shape .16x256b", and "Data path organization": of 128 rows a warp has a quarter.
TEST_F(MatrixLayouts, NvidiaVersion5PlacesSumsOfTensorMemory) {
  LinearLayout whole = NvidiaMmaEncodingAttr::get(&context(), 5, 0, {4, 2}, {128, 32, 16}).ToLinearLayout({128, 64});
  LinearLayout half = NvidiaMmaEncodingAttr::get(&context(), 5, 0, {4, 1}, {64, 64, 16}).ToLinearLayout({64, 64});
  ASSERT_EQ(whole.InSize("register"), 32);
  ASSERT_EQ(half.InSize("register"), 32);
  for (int warp = 0; warp < 8; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int r = 0; r < 32; ++r) {
        const int column = lane % 4 * 2 + r % 2, row = lane / 4 + r / 2 % 2 * 8;
        EXPECT_EQ(At(whole, r, lane, warp),
                  (Coordinates{warp % 4 * 32 + r / 4 % 2 * 16 + row, warp / 4 * 32 + r / 8 * 8 + column}));
        if (warp < 4) EXPECT_EQ(At(half, r, lane, warp), (Coordinates{warp * 16 + row, r / 4 * 8 + column}));
      }
    }
  }
}

// Version 2 counts warps from the last dimension, version 3 from the first.
TEST_F(MatrixLayouts, NvidiaVersionsNumberWarpsDifferently) {
  auto v2 = NvidiaMmaEncodingAttr::get(&context(), 2, 0, {4, 2}, {16, 8});
  auto v3 = NvidiaMmaEncodingAttr::get(&context(), 3, 0, {4, 2}, {16, 8, 16});
  EXPECT_EQ(At(v2.ToLinearLayout({64, 16}), 0, 0, 1), (Coordinates{0, 8}));
  EXPECT_EQ(At(v2.ToLinearLayout({64, 16}), 0, 0, 2), (Coordinates{16, 0}));
  EXPECT_EQ(At(v3.ToLinearLayout({64, 16}), 0, 0, 1), (Coordinates{16, 0}));
  EXPECT_EQ(At(v3.ToLinearLayout({64, 16}), 0, 0, 4), (Coordinates{0, 8}));
}

// AMD matrix instruction calculator: v_mfma_f32_32x32x8_f16, v_mfma_f32_16x16x16_f16, v_mfma_f64_16x16x4_f64.
TEST_F(MatrixLayouts, AmdMfmaPlacesResultsAsTheCalculatorSays) {
  LinearLayout large = Mfma({1, 1}, {32, 32, 8}, false).ToLinearLayout({32, 32});
  LinearLayout turned = Mfma({1, 1}, {32, 32, 8}, true).ToLinearLayout({32, 32});
  LinearLayout small = Mfma({1, 1}, {16, 16, 16}, false).ToLinearLayout({16, 16});
  LinearLayout doubles = Mfma({1, 1}, {16, 16, 4}, false, 64).ToLinearLayout({16, 16});
  ASSERT_EQ(large.InSize("register"), 16);
  ASSERT_EQ(small.InSize("register"), 4);
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < 16; ++r) {
      int row = r / 4 * 8 + lane / 32 * 4 + r % 4, column = lane % 32;
      EXPECT_EQ(At(large, r, lane, 0), (Coordinates{row, column}));
      EXPECT_EQ(At(turned, r, lane, 0), (Coordinates{column, row}));
    }
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(At(small, r, lane, 0), (Coordinates{lane / 16 * 4 + r, lane % 16}));
      EXPECT_EQ(At(doubles, r, lane, 0), (Coordinates{r * 4 + lane / 16, lane % 16}));
    }
  }
}

TEST_F(MatrixLayouts, AmdMfmaPlacesOperandsAsTheCalculatorSays) {
  auto mfma = Mfma({2, 2}, {32, 32, 8}, false);
  LinearLayout a = Operand(0, mfma, 4).ToLinearLayout({64, 8}), b = Operand(1, mfma, 4).ToLinearLayout({8, 64});
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 64; ++lane) {
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(At(a, r, lane, warp), (Coordinates{warp / 2 * 32 + lane % 32, lane / 32 * 4 + r}));
        EXPECT_EQ(At(b, r, lane, warp), (Coordinates{lane / 32 * 4 + r, warp % 2 * 32 + lane % 32}));
      }
    }
  }
}

TEST_F(MatrixLayouts, AmdMfmaOfFlatTilesHasAColumnALane) {
  LinearLayout wide = Mfma({1, 1}, {4, 64, 4}, false).ToLinearLayout({4, 64});
  LinearLayout tall = Mfma({1, 1}, {64, 4, 4}, true).ToLinearLayout({64, 4});
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(At(wide, r, lane, 0), (Coordinates{r, lane}));
      EXPECT_EQ(At(tall, r, lane, 0), (Coordinates{lane, r}));
    }
  }
}

TEST_F(MatrixLayouts, AmdMfmaKeepsTilesOfAWarpTogether) {
  auto mfma = AmdMfmaEncodingAttr::get(&context(), 3, {2, 1}, {16, 16, 16}, false, {2, 1}, 32, SingleBlock(2));
  LinearLayout c = mfma.ToLinearLayout({64, 16}), a = Operand(0, mfma, 4).ToLinearLayout({64, 16});
  EXPECT_EQ(At(c, 4, 0, 0), (Coordinates{16, 0}));
  EXPECT_EQ(At(c, 0, 0, 1), (Coordinates{32, 0}));
  EXPECT_EQ(At(a, 4, 0, 0), (Coordinates{16, 0}));
  EXPECT_EQ(At(a, 0, 0, 1), (Coordinates{32, 0}));
}

// RDNA3 ISA, "WMMA": rows alternate between halves, operands are in both. RDNA4: eight rows a half, K split.
TEST_F(MatrixLayouts, AmdWmmaPlacesFragmentsByGeneration) {
  LinearLayout c1 = Wmma(1, false).ToLinearLayout({32, 32}), c2 = Wmma(2, false).ToLinearLayout({32, 32});
  LinearLayout turned = Wmma(2, true).ToLinearLayout({32, 32});
  LinearLayout a1 = Operand(0, Wmma(1, false), 16).ToLinearLayout({32, 16});
  LinearLayout a2 = Operand(0, Wmma(2, false), 8).ToLinearLayout({32, 16});
  LinearLayout b2 = Operand(1, Wmma(2, false), 8).ToLinearLayout({16, 32});
  for (int warp = 0; warp < 4; ++warp) {
    // The test's warps are numbered from the first dimension.
    int m0 = warp % 2 * 16, n0 = warp / 2 * 16;
    for (int lane = 0; lane < 32; ++lane) {
      int low = lane % 16, half = lane / 16;
      for (int r = 0; r < 8; ++r) {
        EXPECT_EQ(At(c1, r, lane, warp), (Coordinates{m0 + 2 * r + half, n0 + low}));
        EXPECT_EQ(At(c2, r, lane, warp), (Coordinates{m0 + 8 * half + r, n0 + low}));
        EXPECT_EQ(At(turned, r, lane, warp), (Coordinates{m0 + low, n0 + 8 * half + r}));
        EXPECT_EQ(At(a2, r, lane, warp), (Coordinates{m0 + low, 8 * half + r}));
        EXPECT_EQ(At(b2, r, lane, warp), (Coordinates{8 * half + r, n0 + low}));
      }
      for (int r = 0; r < 16; ++r) EXPECT_EQ(At(a1, r, lane, warp), (Coordinates{m0 + low, r}));
    }
  }
}

// cl_intel_subgroup_matrix_multiply_accumulate, subgroups of 16: short8 a, int8 b, float8 accumulators for f16. int8
// operands hold two of K in a lane of a, four in a word of b. With subgroups of 8, a lane of a has two of K.
TEST_F(MatrixLayouts, DpasPlacesFragmentsAsTheExtensionSays) {
  auto halves = Dpas(16, 2, 16, {1, 1}, {1, 1}, SingleBlock(2));
  LinearLayout c = halves.ToLinearLayout({8, 16}), a = Operand(0, halves, 1).ToLinearLayout({8, 16});
  LinearLayout b = Operand(1, halves, 2).ToLinearLayout({16, 16});
  auto bytes = Dpas(16, 4, 16, {1, 1}, {1, 1}, SingleBlock(2));
  LinearLayout a_bytes = Operand(0, bytes, 2).ToLinearLayout({8, 32});
  for (int lane = 0; lane < 16; ++lane) {
    for (int r = 0; r < 8; ++r) {
      EXPECT_EQ(At(c, r, lane, 0), (Coordinates{r, lane}));
      EXPECT_EQ(At(a, r, lane, 0), (Coordinates{r, lane}));
    }
    for (int r = 0; r < 16; ++r) {
      EXPECT_EQ(At(b, r, lane, 0), (Coordinates{r, lane}));
      EXPECT_EQ(At(a_bytes, r, lane, 0), (Coordinates{r / 2, 2 * lane + r % 2}));
    }
  }
  auto narrow = Dpas(8, 2, 8, {1, 1}, {1, 1}, SingleBlock(2));
  LinearLayout a_narrow = Operand(0, narrow, 2).ToLinearLayout({8, 16});
  for (int lane = 0; lane < 8; ++lane)
    for (int r = 0; r < 16; ++r) EXPECT_EQ(At(a_narrow, r, lane, 0), (Coordinates{r / 2, 2 * lane + r % 2}));
}

// Four blocks of a cluster, two along each dimension: each has 16x16 of the 32x32, and a tile fills it.
TEST_F(MatrixLayouts, ClustersDivideTheTensor) {
  LinearLayout cga = LinearLayout::Identity1D(2, "block", "dim1") * LinearLayout::Identity1D(2, "block", "dim0");
  cga = cga.TransposeOuts({"dim0", "dim1"});
  auto blocked = BlockedEncodingAttr::get(&context(), {2, 2}, {8, 4}, {1, 2}, {1, 0}, cga);
  LinearLayout layout = blocked.ToLinearLayout({32, 32});
  ASSERT_EQ(layout.InSize("register"), 4);
  for (int block = 0; block < 4; ++block)
    for (int warp = 0; warp < 2; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < 4; ++r)
          EXPECT_EQ(At(layout, r, lane, warp, block), (Coordinates{block / 2 * 16 + lane / 4 * 2 + r / 2,
                                                                   block % 2 * 16 + warp * 8 + lane % 4 * 2 + r % 2}));
  // Along K of an operand they hold copies.
  LinearLayout a = Operand(0, blocked, 0).ToLinearLayout({32, 8});
  EXPECT_EQ(At(a, 0, 0, 0, 1), (Coordinates{0, 0}));
  EXPECT_EQ(At(a, 0, 0, 0, 2), (Coordinates{16, 0}));
}

class RandomMatrixLayouts : public MatrixLayouts {
 protected:
  // An encoding of rank 2 or 3 and a kWidth for its operands.
  std::pair<DistributedEncoding, unsigned> Any(unsigned rank) {
    auto warps = random_.Split(random_.PowerBelow(4), rank);
    auto cga = random_.Cga(rank);
    llvm::SmallVector<unsigned> ones(rank, 1), tile(rank, 1);
    unsigned k_width = random_.PowerBelow(4);
    switch (random_.Below(5)) {
      case 0:
        tile[rank - 2] = 16, tile[rank - 1] = 8;
        return {NvidiaMmaEncodingAttr::get(&context(), 2, 0, warps, tile, cga), k_width};
      case 1: {
        warps[0] *= 4;
        unsigned n = 8 * random_.PowerBelow(6);
        if (rank == 2) return {NvidiaMmaEncodingAttr::get(&context(), 3, 0, warps, {16, n, 16}, cga), k_width};
        return {Dpas(16, 2, 16, warps, ones, cga), 0};
      }
      case 2: {
        unsigned m = random_.Below(2) ? 16 : 32;
        return {
            AmdMfmaEncodingAttr::get(&context(), 3, warps, {m, m}, random_.Below(2), random_.Split(2, rank), 32, cga),
            k_width};
      }
      case 3: {
        LinearLayout tiles;
        for (const std::string& dim : DimNames(rank))
          for (const char* in : {"register", "warp"}) tiles *= LinearLayout::Identity1D(random_.PowerBelow(2), in, dim);
        unsigned version = 1 + random_.Below(3);
        return {
            AmdWmmaEncodingAttr::get(&context(), version, version > 1 && random_.Below(2), tiles, {16, 16, 16}, cga),
            k_width};
      }
      default: {
        auto cluster = random_.Split(random_.PowerBelow(3), 2);
        ones[rank - 2] = cluster[0], ones[rank - 1] = cluster[1];
        return {Dpas(16, random_.Below(2) ? 2 : 4, 16, warps, ones, cga), 0};
      }
    }
  }

  RandomParameters random_;
};

TEST_F(RandomMatrixLayouts, ReachEveryElement) {
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    unsigned rank = 2 + random_.Below(2);
    auto shape = random_.Shape(rank);
    auto [encoding, k_width] = Any(rank);
    LinearLayout result = encoding.ToLinearLayout(shape);
    ExpectCovers(result, shape);
    for (unsigned operand : {0, 1}) {
      LinearLayout layout = Operand(operand, encoding, k_width).ToLinearLayout(shape);
      ExpectCovers(layout, shape);
      for (const char* in : {"lane", "warp", "block"}) EXPECT_EQ(layout.InSize(in), result.InSize(in));
    }
    unsigned dim = random_.Below(rank);
    auto rest = shape;
    rest.erase(rest.begin() + dim);
    ExpectCovers(SliceEncodingAttr::get(&context(), dim, encoding).ToLinearLayout(rest), rest);
  }
}

// A lane of an operand has the row (a) or column (b) that it has in the result's first rows or columns.
TEST_F(RandomMatrixLayouts, ShapeOperationsFallBackToLinearLayouts) {
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    unsigned rank = 2 + random_.Below(2);
    auto shape = random_.Shape(rank);
    mlir::Attribute encoding = Any(rank).first;
    auto order = random_.Order(rank);
    llvm::SmallVector<int32_t> forth(order.begin(), order.end()), back(rank);
    llvm::SmallVector<int64_t> permuted, joined(shape);
    for (unsigned dim = 0; dim < rank; ++dim) {
      back[forth[dim]] = dim;
      permuted.push_back(shape[forth[dim]]);
    }
    EXPECT_TRUE(SamePlacement(shape, TransEncoding(TransEncoding(encoding, shape, forth), permuted, back), encoding));
    int64_t elements = Product(shape);
    EXPECT_TRUE(SamePlacement(shape, ReshapeEncoding(ReshapeEncoding(encoding, shape, {elements}), {elements}, shape),
                              encoding));
    joined.push_back(2);
    mlir::Attribute split = SplitEncoding(JoinEncoding(encoding, shape), joined);
    ASSERT_TRUE(split);
    EXPECT_TRUE(SamePlacement(shape, split, encoding));
  }
}

}  // namespace
}  // namespace tritond::ttg
