// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/conversion_parts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;

// Of 8 rows and 4 columns: each of 4 lanes has two rows, and all columns of them.
LinearLayout Rows() {
  return LinearLayout::Identity1D(4, "register", "dim1") * LinearLayout::Identity1D(4, "lane", "dim0") *
         LinearLayout::Identity1D(2, "register", "dim0");
}

// Each of 4 lanes has a column.
LinearLayout Columns() {
  return LinearLayout::Identity1D(4, "lane", "dim1") * LinearLayout::Identity1D(8, "register", "dim0");
}

// Places of the flat index that registers of lane 0 hold, by part.
std::vector<std::vector<uint64_t>> Held(const LinearLayout& layout, const std::vector<std::vector<int32_t>>& parts) {
  std::vector<std::vector<uint64_t>> held;
  for (const std::vector<int32_t>& part : parts) {
    held.emplace_back();
    for (int32_t reg : part) held.back().push_back(layout.ApplyFlat(uint64_t(reg) << layout.In("register").shift));
  }
  return held;
}

TEST(ConversionParts, OfOneAllStays) {
  const auto parts = FindConversionParts(Rows(), Columns(), 0);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->src, Rows());
  EXPECT_EQ(parts->dst, Columns());
  EXPECT_THAT(parts->src_registers, ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)));
}

// The upper bit of the row belongs to a register in both. Lanes share the other rows, and the columns.
TEST(ConversionParts, HalvesHaveTheirRows) {
  const auto parts = FindConversionParts(Rows(), Columns(), 1);
  ASSERT_TRUE(parts);
  EXPECT_THAT(parts->src_registers, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(parts->dst_registers, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  for (const LinearLayout* part : {&parts->src, &parts->dst}) {
    EXPECT_EQ(part->OutSize("dim0"), 4);
    EXPECT_EQ(part->OutSize("dim1"), 4);
    EXPECT_EQ(part->InSize("register"), 4);
    EXPECT_EQ(part->InSize("lane"), 4);
    EXPECT_TRUE(part->IsInvertible());
  }
}

// Elements of a part before are those after.
TEST(ConversionParts, PartsHoldTheSameElements) {
  const LinearLayout src = Rows();
  const LinearLayout dst =
      LinearLayout::Identity1D(2, "register", "dim1") * LinearLayout::Identity1D(4, "lane", "dim0") *
      LinearLayout::Identity1D(2, "register", "dim1") * LinearLayout::Identity1D(2, "register", "dim0");
  const auto parts = FindConversionParts(src, dst, 2);
  ASSERT_TRUE(parts);
  auto before = Held(src, parts->src_registers), after = Held(dst, parts->dst_registers);
  ASSERT_EQ(before.size(), 4U);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_THAT(after[i], ::testing::UnorderedElementsAreArray(before[i]));
}

TEST(ConversionParts, NeedBitsOfRegistersInBoth) {
  EXPECT_FALSE(FindConversionParts(Rows(), Columns(), 2));
  // A register that moves along two dimensions is in no part.
  auto mixed = LinearLayout::FromBases({{"register", {{1, 1}}}, {"lane", {{1, 0}}}},
                                       std::vector<DimSize>{{"dim0", 2}, {"dim1", 2}});
  ASSERT_TRUE(mixed.ok());
  EXPECT_FALSE(FindConversionParts(*mixed, *mixed, 1));
}

}  // namespace
}  // namespace tritond::compiler
