// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/layout_algebra.h"

#include <map>
#include <set>

#include "compiler/layout/random_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::ElementsAre;

constexpr int kIterations = 3000;
constexpr absl::string_view kIns[] = {"register", "lane", "warp"};
constexpr absl::string_view kOuts[] = {"dim0", "dim1"};

Coordinates Point(uint64_t flat, const LinearLayout::Dims& dims) {
  Coordinates result;
  for (const LayoutDim& dim : dims) result.push_back((flat >> dim.shift) & dim.mask());
  return result;
}

uint64_t Points(const LinearLayout& layout) { return uint64_t{1} << layout.TotalInBits(); }

TEST(LayoutAlgebra, ComposeAppliesTheInnerLayoutFirst) {
  std::mt19937 rng(21);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    LinearLayout inner = RandomLayout(rng, kIns, kOuts, 2);
    const LinearLayout outer = RandomLayout(rng, {"dim1", "dim0"}, {"offset", "bank"}, 4);
    inner = inner.ResizeOut("dim0", std::min(inner.OutSize("dim0"), outer.InSize("dim0")))
                .ResizeOut("dim1", std::min(inner.OutSize("dim1"), outer.InSize("dim1")));
    const LinearLayout both = Compose(outer, inner);
    for (uint64_t i = 0; i < Points(inner); ++i) {
      const Coordinates x = Point(i, inner.InDims());
      const Coordinates y = inner.Apply(x);
      ASSERT_EQ(both.Apply(x), outer.ApplyNamed({{"dim0", y[0]}, {"dim1", y[1]}}));
    }
  }
}

TEST(LayoutAlgebra, InverseUndoesAnInvertibleLayoutAndNothingElse) {
  std::mt19937 rng(22);
  int invertible = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane"}, kOuts, 2);
    const absl::StatusOr<LinearLayout> inverse = Invert(layout);
    ASSERT_EQ(inverse.ok(), layout.IsInvertible());
    if (!inverse.ok()) continue;
    ++invertible;
    for (uint64_t i = 0; i < Points(layout); ++i) {
      const Coordinates x = Point(i, layout.InDims());
      ASSERT_EQ(inverse->Apply(layout.Apply(x)), x);
    }
    ASSERT_EQ(Invert(*inverse).value(), layout);
  }
  EXPECT_GT(invertible, 100);
}

TEST(LayoutAlgebra, PseudoInverseTakesThePreimageWithoutFreeBits) {
  std::mt19937 rng(23);
  int surjective = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, kIns, kOuts, 2);
    const absl::StatusOr<LinearLayout> inverse = PseudoInvert(layout);
    ASSERT_EQ(inverse.ok(), layout.IsSurjective());
    if (!inverse.ok()) continue;
    ++surjective;
    const Coordinates free = layout.FreeVariableMasks();
    for (uint64_t i = 0; i < Points(*inverse); ++i) {
      const Coordinates y = Point(i, layout.OutDims());
      const Coordinates x = inverse->Apply(y);
      ASSERT_EQ(layout.Apply(x), y);
      for (size_t d = 0; d < x.size(); ++d) ASSERT_EQ(x[d] & free[d], 0);
    }
  }
  EXPECT_GT(surjective, 100);
}

TEST(LayoutAlgebra, InvertAndComposeSolvesExactlyWhenTheImageIsCovered) {
  std::mt19937 rng(24);
  int solved = 0, refused = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"}, 2);
    const LinearLayout outer = RandomLayout(rng, {"offset", "bank"}, {"dim1", "dim0"}, 3);
    std::set<std::pair<int, int>> reached;
    for (uint64_t i = 0; i < Points(outer); ++i) {
      const Coordinates y = outer.Apply(Point(i, outer.InDims()));
      reached.insert({y[1], y[0]});
    }
    bool covered = true;
    for (uint64_t i = 0; i < Points(layout); ++i) {
      const Coordinates y = layout.Apply(Point(i, layout.InDims()));
      covered = covered && reached.count({y[0], y[1]}) == 1;
    }
    const absl::StatusOr<LinearLayout> solution = InvertAndCompose(layout, outer);
    ASSERT_EQ(solution.ok(), covered) << layout.ToString() << " / " << outer.ToString();
    ++(covered ? solved : refused);
    if (!covered) continue;
    const Coordinates free = outer.FreeVariableMasks();
    for (uint64_t i = 0; i < Points(layout); ++i) {
      const Coordinates x = Point(i, layout.InDims());
      const Coordinates z = solution->Apply(x), y = outer.Apply(z), expected = layout.Apply(x);
      ASSERT_THAT(y, ElementsAre(expected[1], expected[0]));
      for (size_t d = 0; d < z.size(); ++d) ASSERT_EQ(z[d] & free[d], 0);
    }
  }
  EXPECT_GT(solved, 100);
  EXPECT_GT(refused, 100);
}

TEST(LayoutAlgebra, QuotientDropsIdentities) {
  std::mt19937 rng(25);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout rest = RandomLayout(rng, {"register", "lane"}, {"lane", "register"});
    const LinearLayout whole = rest * LinearLayout::Identity1D(1 << RandomInt(rng, 0, 3), "warp", "warp");
    const std::optional<LinearLayout> quotient = Quotient(whole, {"warp"});
    ASSERT_TRUE(quotient.has_value());
    ASSERT_EQ(*quotient, rest);
    ASSERT_EQ(Quotient(whole, {"lane"}).has_value(), whole.IsTrivialOver({"lane"}));
  }
  EXPECT_FALSE(Quotient(LinearLayout::Zeros1D(2, "warp", "warp", 2), {"warp"}).has_value());
}

TEST(LayoutAlgebra, DivisionUndoesTheProduct) {
  std::mt19937 rng(26);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout a = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"}, 2);
    const LinearLayout b = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"}, 2);
    ASSERT_EQ(DivideLeft(a * b, a), b);
    ASSERT_EQ(DivideRight(a * b, b), a);
  }
}

TEST(LayoutAlgebra, DivisionByWhatIsNoFactorFails) {
  std::mt19937 rng(27);
  int failed = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const LinearLayout layout = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"}, 3);
    const LinearLayout divisor = RandomLayout(rng, {"register", "lane"}, {"dim0", "dim1"}, 1);
    const std::optional<LinearLayout> left = DivideLeft(layout, divisor), right = DivideRight(layout, divisor);
    if (left.has_value()) {
      ASSERT_EQ(divisor * *left, layout);
    }
    if (right.has_value()) {
      ASSERT_EQ(*right * divisor, layout);
    }
    failed += !left.has_value();
  }
  EXPECT_GT(failed, 100);
  // The lowest register bit steps by two: a unit step is no factor.
  const LinearLayout strided = LinearLayout::Strided1D(4, 2, "register", "dim0");
  EXPECT_FALSE(DivideLeft(strided, LinearLayout::Identity1D(2, "register", "dim0")).has_value());
  EXPECT_FALSE(DivideLeft(strided, LinearLayout::Identity1D(2, "lane", "dim0")).has_value());
  EXPECT_EQ(DivideRight(strided, LinearLayout::Identity1D(2, "register", "dim0")).value(),
            LinearLayout::Strided1D(2, 2, "register", "dim0"));
}

TEST(LayoutAlgebra, ATileLargerThanTheTensorReplicates) {
  const LinearLayout tile = LinearLayout::Identity1D(4, "register", "dim0") *
                            LinearLayout::Identity1D(32, "lane", "dim0") * LinearLayout::Identity1D(4, "warp", "dim0");
  const LinearLayout fitted = EnsureNotLargerThan(tile, {{"dim0", 64}});
  EXPECT_EQ(fitted.ToString(),
            "register: 1->(1) 2->(2) lane: 1->(4) 2->(8) 4->(16) 8->(32) 16->(0) warp: 1->(0) 2->(0) => dim0: 64");
  EXPECT_EQ(EnsureNotLargerThan(tile, {{"dim0", 1024}}), tile);
}

TEST(LayoutAlgebra, ShrinkingASwizzledTileKeepsItSurjective) {
  const auto tile = LinearLayout::FromBases({{"offset", {{3}, {2}}}}, {{"dim0", 4}});
  EXPECT_EQ(EnsureNotLargerThan(*tile, {{"dim0", 2}}).ToString(), "offset: 1->(1) 2->(0) => dim0: 2");
  std::mt19937 rng(28);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const int bits = RandomInt(rng, 0, 5), extra = RandomInt(rng, 0, 2), cut = RandomInt(rng, 0, 2);
    const LinearLayout random = RandomSurjective(rng, {{"register", bits}, {"lane", extra}},
                                                 {{"dim0", bits / 2}, {"dim1", bits - bits / 2}}, true);
    const LinearLayout fitted = EnsureNotLargerThan(random, {{"dim1", 1 << cut}});
    ASSERT_EQ(fitted.OutBits("dim1"), std::min(cut, bits - bits / 2));
    ASSERT_TRUE(fitted.IsSurjective()) << random.ToString();
  }
}

TEST(LayoutAlgebra, ATileSmallerThanTheTensorTakesMoreRegisters) {
  const LinearLayout tile = LinearLayout::Identity1D(2, "register", "dim1") *
                            LinearLayout::Identity1D(16, "lane", "dim1") * LinearLayout::Identity1D(2, "lane", "dim0");
  const LinearLayout fitted = EnsureNotSmallerThan(tile, {{"dim1", 128}, {"dim0", 8}});
  EXPECT_EQ(fitted.OutSize("dim0"), 8);
  EXPECT_EQ(fitted.OutSize("dim1"), 128);
  EXPECT_EQ(fitted.InSize("register"), 2 * 4 * 4);
  EXPECT_THAT(fitted.Apply({2, 0}), ElementsAre(32, 0));
  EXPECT_THAT(fitted.Apply({8, 0}), ElementsAre(0, 2));
  EXPECT_TRUE(fitted.IsInvertible());
  EXPECT_EQ(EnsureNotSmallerThan(tile, {{"dim1", 4}}), tile);
}

}  // namespace
}  // namespace tritond::compiler
