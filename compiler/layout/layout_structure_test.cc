// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/linear_layout.h"
#include "compiler/layout/random_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;

constexpr int kIterations = 3000;
constexpr absl::string_view kIns[] = {"register", "lane", "warp"};
constexpr absl::string_view kOuts[] = {"dim0", "dim1"};

Coordinates RandomPoint(std::mt19937& rng, const LinearLayout& layout) {
  Coordinates point;
  for (const LayoutDim& dim : layout.InDims()) point.push_back(RandomInt(rng, 0, dim.size() - 1));
  return point;
}

int32_t At(const LinearLayout::Dims& dims, const Coordinates& point, absl::string_view name) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].name == name) return point[i];
  }
  return 0;
}

int32_t SizeOrOne(const LinearLayout::Dims& dims, absl::string_view name) {
  for (const LayoutDim& dim : dims) {
    if (dim.name == name) return dim.size();
  }
  return 1;
}

TEST(LayoutStructure, ProductStacksTheOuterFactorAboveTheInnerOne) {
  std::mt19937 rng(11);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout a = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"});
    const LinearLayout b = RandomLayout(rng, {"warp", "lane"}, {"dim2", "dim1"});
    const LinearLayout product = a * b;
    ASSERT_THAT(product.InNames(), ElementsAre("register", "lane", "warp"));
    ASSERT_THAT(product.OutNames(), ElementsAre("dim0", "dim1", "dim2"));
    for (int sample = 0; sample < 8; ++sample) {
      const Coordinates x = RandomPoint(rng, a), y = RandomPoint(rng, b);
      Coordinates stacked, expected;
      for (const LayoutDim& dim : product.InDims()) {
        stacked.push_back(At(a.InDims(), x, dim.name) + SizeOrOne(a.InDims(), dim.name) * At(b.InDims(), y, dim.name));
      }
      for (const LayoutDim& dim : product.OutDims()) {
        expected.push_back(At(a.OutDims(), a.Apply(x), dim.name) +
                           SizeOrOne(a.OutDims(), dim.name) * At(b.OutDims(), b.Apply(y), dim.name));
      }
      ASSERT_EQ(product.Apply(stacked), expected) << product.ToString();
    }
  }
}

TEST(LayoutStructure, EmptyLayoutIsNeutral) {
  const LinearLayout layout = LinearLayout::Strided1D(4, 2, "lane", "dim0");
  EXPECT_EQ(LinearLayout() * layout, layout);
  EXPECT_EQ(layout * LinearLayout(), layout);
}

TEST(LayoutStructure, ProductIsAssociative) {
  std::mt19937 rng(12);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout a = RandomLayout(rng, {"register", "lane"}, {"dim0"});
    const LinearLayout b = RandomLayout(rng, {"lane", "register"}, {"dim1", "dim0"});
    const LinearLayout c = RandomLayout(rng, {"warp", "lane"}, {"dim0", "dim1"});
    ASSERT_EQ((a * b) * c, a * (b * c));
  }
}

TEST(LayoutStructure, SublayoutFixesInputsAndDropsOutputs) {
  std::mt19937 rng(13);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, kIns, {"dim0", "dim1", "dim2"});
    const LinearLayout sub = layout.Sublayout({"warp", "register"}, {"dim2", "dim0"});
    ASSERT_THAT(sub.InNames(), ElementsAre("register", "warp"));
    ASSERT_THAT(sub.OutNames(), ElementsAre("dim0", "dim2"));
    const Coordinates point = RandomPoint(rng, sub);
    const Coordinates whole = layout.Apply({point[0], 0, point[1]});
    ASSERT_THAT(sub.Apply(point), ElementsAre(whole[0], whole[2]));
  }
}

TEST(LayoutStructure, TransposesKeepTheMap) {
  std::mt19937 rng(14);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, kIns, kOuts);
    const LinearLayout turned = layout.TransposeIns({"warp", "register", "lane"}).TransposeOuts({"dim1", "dim0"});
    const Coordinates x = RandomPoint(rng, layout);
    const Coordinates y = layout.Apply(x);
    ASSERT_THAT(turned.Apply({x[2], x[0], x[1]}), ElementsAre(y[1], y[0]));
    ASSERT_EQ(turned.TransposeIns(kIns).TransposeOuts(kOuts), layout);
  }
}

TEST(LayoutStructure, RenamesKeepTheMatrix) {
  std::mt19937 rng(15);
  const LinearLayout layout = RandomLayout(rng, kIns, kOuts);
  const LinearLayout renamed = layout.RenameOuts({"dim1", "dim0"}).RenameIns({"a", "b", "c"});
  EXPECT_EQ(renamed.columns(), layout.columns());
  EXPECT_THAT(renamed.OutNames(), ElementsAre("dim1", "dim0"));
  EXPECT_THAT(renamed.InNames(), ElementsAre("a", "b", "c"));
}

TEST(LayoutStructure, ReshapesSplitTheFlattenedSpace) {
  std::mt19937 rng(16);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, kIns, kOuts);
    const LinearLayout flat = layout.FlattenIns("in").FlattenOuts("out");
    const int in_cut = RandomInt(rng, 0, layout.TotalInBits()), out_cut = RandomInt(rng, 0, layout.TotalOutBits());
    const LinearLayout split = layout.ReshapeIns({{"a", 1 << in_cut}, {"b", 1 << (layout.TotalInBits() - in_cut)}})
                                   .ReshapeOuts({{"c", 1 << out_cut}, {"d", 1 << (layout.TotalOutBits() - out_cut)}});
    const int x = RandomInt(rng, 0, (1 << layout.TotalInBits()) - 1);
    int y = 0, shift = 0;
    Coordinates point;
    for (const LayoutDim& dim : layout.InDims()) point.push_back((x >> dim.shift) & dim.mask());
    const Coordinates image = layout.Apply(point);
    for (size_t i = 0; i < image.size(); ++i) {
      y |= image[i] << shift;
      shift += layout.OutDims()[i].bits;
    }
    ASSERT_THAT(flat.Apply({x}), ElementsAre(y));
    ASSERT_THAT(split.Apply({x & ((1 << in_cut) - 1), x >> in_cut}),
                ElementsAre(y & ((1 << out_cut) - 1), y >> out_cut));
  }
}

TEST(LayoutStructure, FlattenTakesTheFirstNameByDefault) {
  const LinearLayout layout =
      LinearLayout::Identity1D(2, "register", "dim1") * LinearLayout::Identity1D(2, "lane", "dim0");
  EXPECT_EQ(layout.FlattenOuts().ToString(), "register: 1->(1) lane: 1->(2) => dim1: 4");
  EXPECT_EQ(layout.FlattenIns().ToString(), "register: 1->(1,0) 2->(0,1) => dim1: 2, dim0: 2");
}

TEST(LayoutStructure, RemoveZeroBasesKeepsTheOthersInOrder) {
  const auto layout =
      LinearLayout::FromBases({{"register", {{0}, {4}, {0}, {1}}}, {"lane", {{0}, {2}}}}, {{"dim0", 8}});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->RemoveZeroBases("register").ToString(), "register: 1->(4) 2->(1) lane: 1->(0) 2->(2) => dim0: 8");
  EXPECT_EQ(layout->RemoveZeroBases("lane").InSize("lane"), 2);
}

TEST(LayoutStructure, ResizesCutOrPad) {
  std::mt19937 rng(17);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, kIns, kOuts);
    const int bits = RandomInt(rng, 0, 4);
    const LinearLayout in = layout.ResizeIn("lane", 1 << bits);
    const LinearLayout out = layout.ResizeOut("dim0", 1 << bits);
    Coordinates point = RandomPoint(rng, in);
    ASSERT_EQ(in.InSize("lane"), 1 << bits);
    const Coordinates cut = {point[0], point[1] % layout.InSize("lane"), point[2]};
    ASSERT_EQ(in.Apply(point), layout.Apply(cut));
    point = RandomPoint(rng, layout);
    const Coordinates whole = layout.Apply(point);
    ASSERT_EQ(out.OutSize("dim0"), 1 << bits);
    ASSERT_THAT(out.Apply(point), ElementsAre(whole[0] % (1 << bits), whole[1]));
  }
}

}  // namespace
}  // namespace tritond::compiler
