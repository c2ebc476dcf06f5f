// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/linear_layout.h"

#include <set>

#include "absl/container/flat_hash_set.h"
#include "compiler/layout/random_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kIterations = 3000;

// A blocked layout of 16x16 elements: 1x4 registers, 8x4 lanes, 2x1 warps; dim1 is the fastest.
LinearLayout Blocked16x16() {
  return LinearLayout::Identity1D(4, "register", "dim1") * LinearLayout::Identity1D(4, "lane", "dim1") *
         LinearLayout::Identity1D(8, "lane", "dim0") * LinearLayout::Identity1D(2, "warp", "dim0");
}

// All points of the input space of `layout`, flattened, with their images computed from Basis() alone.
std::vector<uint64_t> Images(const LinearLayout& layout) {
  std::vector<uint64_t> images;
  for (uint64_t point = 0; point < uint64_t{1} << layout.TotalInBits(); ++point) {
    uint64_t image = 0;
    for (const LayoutDim& in : layout.InDims()) {
      for (int bit = 0; bit < in.bits; ++bit) {
        if (((point >> (in.shift + bit)) & 1) == 0) continue;
        for (const LayoutDim& out : layout.OutDims()) {
          image ^= static_cast<uint64_t>(layout.Basis(in.name, bit, out.name)) << out.shift;
        }
      }
    }
    images.push_back(image);
  }
  return images;
}

Coordinates Unflatten(uint64_t flat, const LinearLayout::Dims& dims) {
  Coordinates result;
  for (const LayoutDim& dim : dims) result.push_back((flat >> dim.shift) & dim.mask());
  return result;
}

TEST(LinearLayout, IdentityMapsEachPointToItself) {
  const LinearLayout layout = LinearLayout::Identity1D(8, "lane", "dim0");
  for (int i = 0; i < 8; ++i) EXPECT_THAT(layout.Apply({i}), ElementsAre(i));
  EXPECT_TRUE(layout.IsInvertible());
}

TEST(LinearLayout, StridedMapsToMultiples) {
  const LinearLayout layout = LinearLayout::Strided1D(4, 8, "lane", "dim0");
  EXPECT_EQ(layout.OutSize("dim0"), 32);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(layout.Apply({i}), ElementsAre(8 * i));
  EXPECT_FALSE(layout.IsSurjective());
  EXPECT_TRUE(layout.IsInjective());
}

TEST(LinearLayout, ZerosReplicate) {
  const LinearLayout layout = LinearLayout::Zeros1D(4, "lane", "dim0", 2);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(layout.Apply({i}), ElementsAre(0));
  EXPECT_THAT(layout.FreeVariableMasks(), ElementsAre(3));
  EXPECT_EQ(layout.OutSize("dim0"), 2);
}

TEST(LinearLayout, BlockedLayoutPlacesElements) {
  const LinearLayout layout = Blocked16x16();
  EXPECT_THAT(layout.InNames(), ElementsAre("register", "lane", "warp"));
  EXPECT_THAT(layout.OutNames(), ElementsAre("dim1", "dim0"));
  for (int warp = 0; warp < 2; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < 4; ++reg) {
        EXPECT_THAT(layout.Apply({reg, lane, warp}), ElementsAre(reg + 4 * (lane % 4), lane / 4 + 8 * warp));
      }
    }
  }
  EXPECT_TRUE(layout.IsInvertible());
  EXPECT_EQ(layout.NumConsecutive("register", "dim1"), 4);
  EXPECT_EQ(layout.NumConsecutive("register", "dim0"), 1);
  EXPECT_EQ(layout.NumConsecutive("lane", "dim0"), 1);
}

TEST(LinearLayout, PrintsItsBases) {
  const LinearLayout layout =
      LinearLayout::Identity1D(2, "register", "dim1") * LinearLayout::Identity1D(2, "lane", "dim0");
  EXPECT_EQ(layout.ToString(), "register: 1->(1,0) lane: 1->(0,1) => dim1: 2, dim0: 2");
}

TEST(LinearLayout, FromBasesTakesWhatBasisGivesBack) {
  const auto layout =
      LinearLayout::FromBases({{"register", {{0, 1}, {3, 2}}}, {"lane", {}}}, {{"dim0", 4}, {"dim1", 8}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->Basis("register", 1), ElementsAre(3, 2));
  EXPECT_EQ(layout->Basis("register", 0, "dim1"), 1);
  EXPECT_EQ(layout->InSize("lane"), 1);
  EXPECT_EQ(layout->TotalOutBits(), 5);
}

TEST(LinearLayout, InferFromBasesFindsTheSmallestSizes) {
  const auto layout = LinearLayout::InferFromBases({{"register", {{0, 1}, {5, 0}}}}, {"dim0", "dim1"});
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->OutSize("dim0"), 8);
  EXPECT_EQ(layout->OutSize("dim1"), 2);
}

TEST(LinearLayout, FromBasesRefusesMalformedInput) {
  const auto message = [](const absl::StatusOr<LinearLayout>& layout) {
    return std::string(layout.status().message());
  };
  EXPECT_THAT(message(LinearLayout::FromBases({}, {{"dim0", 6}})), HasSubstr("dim0: size 6 is no power of two"));
  EXPECT_THAT(message(LinearLayout::FromBases({}, {{"dim0", 0}})), HasSubstr("no power of two"));
  EXPECT_THAT(message(LinearLayout::FromBases({{"lane", {{4}}}}, {{"dim0", 4}})), HasSubstr("basis 0 of lane: 4"));
  EXPECT_THAT(message(LinearLayout::FromBases({{"lane", {{-1}}}}, {{"dim0", 4}})), HasSubstr("outside"));
  EXPECT_THAT(message(LinearLayout::FromBases({{"lane", {{1, 1}}}}, {{"dim0", 4}})), HasSubstr("2 coordinates"));
  EXPECT_THAT(message(LinearLayout::FromBases({{"lane", {}}, {"lane", {}}}, {{"dim0", 4}})), HasSubstr("repeat"));
  EXPECT_THAT(message(LinearLayout::FromBases({}, {{"dim0", 4}, {"dim0", 4}})), HasSubstr("repeat"));
  EXPECT_FALSE(LinearLayout::InferFromBases({{"lane", {{-1}}}}, {"dim0"}).ok());
  EXPECT_FALSE(LinearLayout::InferFromBases({{"lane", {{INT32_MAX}}}}, {"dim0"}).ok());
  EXPECT_FALSE(LinearLayout::FromBases({}, {{"a", 1 << 30}, {"b", 1 << 30}, {"c", 1 << 30}}).ok());
}

TEST(LinearLayout, ApplyIsTheXorOfBases) {
  std::mt19937 rng(1);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane", "warp"}, {"dim0", "dim1"});
    const std::vector<uint64_t> images = Images(layout);
    for (uint64_t point = 0; point < images.size(); ++point) {
      ASSERT_EQ(layout.ApplyFlat(point), images[point]);
      const Coordinates in = Unflatten(point, layout.InDims());
      ASSERT_EQ(layout.Apply(in), Unflatten(images[point], layout.OutDims()));
      ASSERT_EQ(layout.ApplyNamed({{"warp", in[2]}, {"register", in[0]}, {"lane", in[1]}}), layout.Apply(in));
    }
  }
}

TEST(LinearLayout, RankAndItsPredicatesCountTheImage) {
  std::mt19937 rng(2);
  int surjective = 0, injective = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"});
    const std::vector<uint64_t> images = Images(layout);
    const std::set<uint64_t> distinct(images.begin(), images.end());
    ASSERT_EQ(distinct.size(), size_t{1} << layout.Rank());
    ASSERT_EQ(layout.IsInjective(), distinct.size() == images.size());
    ASSERT_EQ(layout.IsSurjective(), distinct.size() == size_t{1} << layout.TotalOutBits());
    surjective += layout.IsSurjective();
    injective += layout.IsInjective();
  }
  EXPECT_GT(surjective, 100);
  EXPECT_GT(injective, 100);
}

TEST(LinearLayout, PointsWithoutFreeBitsReachEachElementOnce) {
  std::mt19937 rng(3);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane", "warp"}, {"dim0", "dim1"});
    const Coordinates masks = layout.FreeVariableMasks();
    const std::vector<uint64_t> images = Images(layout);
    std::set<uint64_t> all(images.begin(), images.end()), owned;
    for (uint64_t point = 0; point < images.size(); ++point) {
      const Coordinates in = Unflatten(point, layout.InDims());
      bool owner = true;
      for (size_t i = 0; i < in.size(); ++i) owner = owner && (in[i] & masks[i]) == 0;
      if (owner) {
        ASSERT_TRUE(owned.insert(images[point]).second);
      }
    }
    ASSERT_EQ(owned, all);
  }
}

TEST(LinearLayout, FreeBitsAreTheLaterOnes) {
  // Bit 1 of lane repeats bit 0 of register: the earlier one stays.
  const auto layout = LinearLayout::FromBases({{"register", {{1}}}, {"lane", {{2}, {1}, {0}}}}, {{"dim0", 4}});
  ASSERT_TRUE(layout.ok());
  EXPECT_THAT(layout->FreeVariableMasks(), ElementsAre(0, 6));
}

TEST(LinearLayout, NumConsecutiveIsTheLargestAlignedRun) {
  std::mt19937 rng(4);
  int longer = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    LinearLayout layout = RandomLayout(rng, {"register", "lane"}, {"dim1", "dim0"}, 2);
    if (iteration % 2 == 0) layout = LinearLayout::Identity1D(4, "register", "dim1") * layout;
    const LayoutDim& out = layout.Out("dim1");
    const int32_t actual = layout.NumConsecutive("register", "dim1");
    int32_t expected = 1;
    for (int32_t n = 2; n <= layout.InSize("register"); n *= 2) {
      bool good = true;
      for (uint64_t point = 0; point < uint64_t{1} << layout.TotalInBits(); ++point) {
        const uint64_t start = point & ~static_cast<uint64_t>(n - 1), offset = point & (n - 1);
        const uint64_t first = layout.ApplyFlat(start), image = layout.ApplyFlat(point);
        const uint64_t base = (first >> out.shift) & out.mask();
        good = good && base % n == 0 && base + offset <= out.mask() && image == first + (offset << out.shift);
      }
      if (good) expected = n;
    }
    ASSERT_EQ(actual, expected) << layout.ToString();
    longer += actual > 1;
  }
  EXPECT_GT(longer, 500);
}

TEST(LinearLayout, IsTrivialOverAnIdentityThatNothingElseTouches) {
  const LinearLayout identity = LinearLayout::Identity1D(4, "warp", "warp");
  const LinearLayout other = LinearLayout::Identity1D(4, "lane", "register");
  EXPECT_TRUE((identity * other).IsTrivialOver({"warp"}));
  EXPECT_FALSE((identity * other).IsTrivialOver({"lane"}));
  EXPECT_FALSE((identity * LinearLayout::Identity1D(2, "lane", "warp")).IsTrivialOver({"warp"}));
  EXPECT_FALSE((identity * LinearLayout::Zeros1D(2, "warp", "warp")).IsTrivialOver({"warp"}));
  EXPECT_TRUE(other.IsTrivialOver({}));
}

TEST(LinearLayout, IsZeroLooksAtTheNamedBlockAlone) {
  const LinearLayout layout = Blocked16x16();
  EXPECT_TRUE(layout.IsZero({"register"}, {"dim0"}));
  EXPECT_FALSE(layout.IsZero({"register", "lane"}, {"dim0"}));
  EXPECT_TRUE(layout.IsZero({"warp"}, {"dim1"}));
}

TEST(LinearLayout, EqualLayoutsHashAlike) {
  std::mt19937 rng(5);
  absl::flat_hash_set<LinearLayout> seen;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane"}, {"dim0"});
    const LinearLayout again = LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), layout.columns());
    EXPECT_EQ(layout, again);
    seen.insert(layout);
    EXPECT_TRUE(seen.contains(again));
  }
  EXPECT_NE(LinearLayout::Identity1D(4, "lane", "dim0"), LinearLayout::Identity1D(4, "lane", "dim1"));
  EXPECT_NE(LinearLayout::Identity1D(4, "lane", "dim0"), LinearLayout::Identity1D(8, "lane", "dim0"));
  EXPECT_NE(LinearLayout::Zeros1D(4, "lane", "dim0"), LinearLayout::Zeros1D(4, "lane", "dim0", 2));
}

TEST(LinearLayoutDeathTest, UnknownDimensionEndsTheProcess) {
  EXPECT_DEATH(Blocked16x16().InSize("block"), "no input block");
}

}  // namespace
}  // namespace tritond::compiler
