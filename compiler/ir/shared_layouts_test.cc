// SPDX-License-Identifier: Apache-2.0
// Encodings of shared memory: published examples element by element, and properties of thousands of random ones.
#include "compiler/ir/layout_test_support.h"
#include "compiler/ir/test_context.h"

namespace tritond::ttg {
namespace {

using compiler::LinearLayout;

class SharedLayouts : public testing::Test {
 protected:
  NvmmaSharedEncodingAttr Nvmma(unsigned width, bool transposed, unsigned bits, bool padded = false,
                                unsigned rank = 2) {
    return NvmmaSharedEncodingAttr::get(context_.get(), width, transposed, bits, padded, SingleBlock(rank));
  }
  MemDescType Buffer(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Attribute encoding,
                     llvm::ArrayRef<int64_t> alloc_shape) {
    return MemDescType::get(context_.get(), shape, element, encoding, SharedMemorySpaceAttr::get(context_.get()), true,
                            alloc_shape);
  }

  std::unique_ptr<mlir::MLIRContext> context_ = compiler::MakeTestContext();
};

// Groups of two; two rows a phase:   A00 A01 A02 A03 / A10 A11 A12 A13 / A22 A23 A20 A21 / A32 A33 A30 A31.
TEST_F(SharedLayouts, SwizzleHasThePublishedTable) {
  LinearLayout layout = SwizzledSharedEncodingAttr::get(context_.get(), 2, 2, 4, {1, 0}).ToLinearLayout({4, 4});
  const int columns[4][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {2, 3, 0, 1}, {2, 3, 0, 1}};
  for (int row = 0; row < 4; ++row)
    for (int place = 0; place < 4; ++place)
      EXPECT_EQ(AtOffset(layout, row * 4 + place), (Coordinates{row, columns[row][place]}));
}

// 16x16 words: a row is half of all banks, so two rows share a phase; eight phases.
TEST_F(SharedLayouts, SwizzleOfSixteenRowsXorsGroupsWithThePhase) {
  LinearLayout layout = SwizzledSharedEncodingAttr::get(context_.get(), 2, 2, 8, {1, 0}).ToLinearLayout({16, 16});
  for (int row = 0; row < 16; ++row)
    for (int place = 0; place < 16; ++place)
      EXPECT_EQ(AtOffset(layout, row * 16 + place), (Coordinates{row, ((place / 2) ^ (row / 2 % 8)) * 2 + place % 2}));
}

// 16x128 bytes swizzled in rows of 64: column 64 begins after all rows.
TEST_F(SharedLayouts, NvmmaHasThePublishedLeadingOffset) {
  EXPECT_EQ(AtOffset(Nvmma(64, false, 8).ToLinearLayout({16, 128}), 16 * 64), (Coordinates{0, 64}));
}

TEST_F(SharedLayouts, RotatingSwizzleChangesThePhaseFromRunToRun) {
  LinearLayout layout =
      AmdRotatingSharedEncodingAttr::get(context_.get(), 4, 1, 4, {1, 0}, SingleBlock(2)).ToLinearLayout({32, 32});
  for (int row = 0; row < 32; ++row)
    for (int place = 0; place < 32; ++place)
      EXPECT_EQ(AtOffset(layout, row * 32 + place),
                (Coordinates{row, ((place / 4) ^ (row % 4) ^ (row / 4 % 4)) * 4 + place % 4}));
}

// PTX ISA, "Strides and swizzles of the shared memory matrix": the hardware XORs address bits 4… with bits 7…, three,
// two or one of them.
TEST_F(SharedLayouts, NvmmaSwizzlesAddressBitsAsTheHardwareDoes) {
  for (int bits : {8, 16, 32}) {
    for (int width : {0, 32, 64, 128}) {
      const int bytes = bits / 8, column_bytes = std::max(16, width), columns = column_bytes / bytes;
      const int rows = 64, all_columns = 4 * columns, mask = width / 16 > 0 ? width / 16 - 1 : 0;
      LinearLayout plain = Nvmma(width, false, bits).ToLinearLayout({rows, all_columns});
      LinearLayout turned = Nvmma(width, true, bits).ToLinearLayout({all_columns, rows});
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < all_columns; ++column) {
          int address = column / columns * rows * column_bytes + row * column_bytes + column % columns * bytes;
          address ^= (address >> 7 & mask) << 4;
          EXPECT_EQ(AtOffset(plain, address / bytes), (Coordinates{row, column}));
          EXPECT_EQ(AtOffset(turned, address / bytes), (Coordinates{column, row}));
        }
      }
    }
  }
}

TEST_F(SharedLayouts, NvmmaOfThreeDimensionsHasItsRowsBelowEachOther) {
  LinearLayout flat = Nvmma(64, false, 16).ToLinearLayout({32, 64});
  LinearLayout cube = Nvmma(64, false, 16, false, 3).ToLinearLayout({4, 8, 64});
  for (int offset = 0; offset < 32 * 64; ++offset) {
    Coordinates at = AtOffset(flat, offset);
    EXPECT_EQ(AtOffset(cube, offset), (Coordinates{at[0] / 8, at[0] % 8, at[1]}));
  }
}

// Sub-byte elements two a byte: 8 bytes with, 8 without.
TEST_F(SharedLayouts, NvmmaPaddedLeavesEverySecondRunEmpty) {
  LinearLayout layout = Nvmma(128, false, 8, true).ToLinearLayout({16, 64});
  EXPECT_EQ(layout.InSize("offset"), 16 * 128);
  EXPECT_TRUE(layout.IsSurjective());
  EXPECT_EQ(AtOffset(layout, 7), (Coordinates{0, 7}));
  EXPECT_EQ(AtOffset(layout, 16), (Coordinates{0, 8}));
  EXPECT_EQ(AtOffset(layout, 128), (Coordinates{1, 8}));  // chunk 0 of row 1 has what is chunk 1 of row 0
}

TEST_F(SharedLayouts, PaddingCountsTheGapsBefore) {
  const Padding padding[] = {{64, 8}, {256, 16}};
  EXPECT_EQ(PaddedOffset(63, padding), 63);
  EXPECT_EQ(PaddedOffset(64, padding), 72);
  EXPECT_EQ(PaddedOffset(256, padding), 256 + 4 * 8 + 16);
  auto f16 = mlir::Float16Type::get(context_.get());
  LinearLayout rows =
      LinearLayout::Identity1D(64, "offset", "dim1") * LinearLayout::Identity1D(8, "offset", "dim0") * SingleBlock(2);
  rows = rows.TransposeOuts({"dim0", "dim1"});
  auto encoding = PaddedSharedEncodingAttr::get(context_.get(), {{64, 8}}, rows);
  // Seven gaps: there is none after the last row.
  EXPECT_EQ(BufferBits(Buffer({8, 64}, f16, encoding, {8, 64})), (8 * 64 + 7 * 8) * 16);
}

TEST_F(SharedLayouts, RowsOfBuffersLieOneAfterTheOther) {
  auto f16 = mlir::Float16Type::get(context_.get());
  auto encoding = SwizzledSharedEncodingAttr::get(context_.get(), 4, 1, 4, {1, 0});
  LinearLayout one = ToLinearLayout(Buffer({8, 16}, f16, encoding, {8, 16}));
  LinearLayout row = ToLinearLayout(Buffer({4, 8, 16}, f16, encoding, {4, 8, 16}));
  for (int offset = 0; offset < 4 * 8 * 16; ++offset) {
    Coordinates at = AtOffset(one, offset % 128);
    EXPECT_EQ(AtOffset(row, offset), (Coordinates{offset / 128, at[0], at[1]}));
  }
}

TEST_F(SharedLayouts, PartsHaveTheLayoutOfTheWhole) {
  auto f16 = mlir::Float16Type::get(context_.get());
  auto encoding = SwizzledSharedEncodingAttr::get(context_.get(), 4, 1, 4, {1, 0});
  auto part = Buffer({8, 8}, f16, encoding, {3, 8, 16});
  EXPECT_FALSE(HasAllocShape(part));
  EXPECT_EQ(ToLinearLayout(part), ToLinearLayout(Buffer({8, 16}, f16, encoding, {8, 16})));
}

TEST_F(SharedLayouts, RandomOnesHaveOnePlaceForEachElement) {
  RandomParameters random;
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    unsigned rank = 1 + random.Below(3);
    auto shape = random.Shape(rank);
    auto cga = random.Cga(rank);
    LinearLayout layout;
    switch (random.Below(3)) {
      case 0:
        layout = SwizzledSharedEncodingAttr::get(context_.get(), random.PowerBelow(5), random.PowerBelow(3),
                                                 random.PowerBelow(4), random.Order(rank), cga)
                     .ToLinearLayout(shape);
        break;
      case 1:
        layout = AmdRotatingSharedEncodingAttr::get(context_.get(), random.PowerBelow(5), random.PowerBelow(3),
                                                    random.PowerBelow(4), random.Order(rank), cga)
                     .ToLinearLayout(shape);
        break;
      default: {
        bool transposed = random.Below(2);
        shape[transposed ? 0 : rank - 1] *= 512;  // a whole column in each of four blocks
        const unsigned widths[] = {0, 32, 64, 128};
        layout = NvmmaSharedEncodingAttr::get(context_.get(), widths[random.Below(4)], transposed, 8 << random.Below(3),
                                              false, cga)
                     .ToLinearLayout(shape);
      }
    }
    ExpectCovers(layout, shape);
    int64_t elements = Product(shape);
    EXPECT_GE(int64_t{layout.InSize("offset")} * layout.InSize("block"), elements);
    EXPECT_TRUE(layout.Sublayout({"offset"}, layout.OutNames()).IsInjective()) << layout.ToString();
  }
}

}  // namespace
}  // namespace tritond::ttg
