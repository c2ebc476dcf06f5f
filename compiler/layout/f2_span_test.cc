// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/f2_span.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

TEST(F2Span, HoldsExactlyTheSumsOfItsVectors) {
  std::mt19937 rng(31);
  for (int iteration = 0; iteration < 500; ++iteration) {
    std::vector<uint64_t> vectors(rng() % 7);
    for (uint64_t& vector : vectors) vector = rng() % 64;
    std::set<uint64_t> sums;
    for (uint64_t choice = 0; choice < uint64_t{1} << vectors.size(); ++choice) {
      uint64_t sum = 0;
      for (size_t i = 0; i < vectors.size(); ++i) sum ^= (choice >> i & 1) != 0 ? vectors[i] : 0;
      sums.insert(sum);
    }
    const F2Span span(vectors);
    EXPECT_EQ(size_t{1} << span.rank(), sums.size());
    for (uint64_t vector = 0; vector < 64; ++vector) {
      const std::optional<uint64_t> choice = span.Solve(vector);
      ASSERT_EQ(choice.has_value(), sums.count(vector) == 1);
      ASSERT_EQ(span.Contains(vector), choice.has_value());
      if (!choice.has_value()) continue;
      uint64_t sum = 0;
      for (size_t i = 0; i < vectors.size(); ++i) sum ^= (*choice >> i & 1) != 0 ? vectors[i] : 0;
      ASSERT_EQ(sum, vector);
    }
  }
}

TEST(F2Span, SolvesWithTheEarliestIndependentVectors) {
  const F2Span span({0b01, 0b01, 0b10, 0b11});
  EXPECT_EQ(span.Solve(0b01), 0b0001);
  EXPECT_EQ(span.Solve(0b11), 0b0101);
}

TEST(F2Span, UnitVectorsOffThePivotsCompleteIt) {
  std::mt19937_64 rng(32);
  for (int iteration = 0; iteration < 500; ++iteration) {
    F2Span span;
    for (int i = 0; i < 20; ++i) span.Insert(rng() & rng());
    EXPECT_EQ(__builtin_popcountll(span.pivots()), span.rank());
    for (int bit = 0; bit < 64; ++bit) {
      if ((span.pivots() >> bit & 1) == 0) {
        EXPECT_TRUE(span.Insert(uint64_t{1} << bit));
      }
    }
    EXPECT_EQ(span.rank(), 64);
  }
}

}  // namespace
}  // namespace tritond::compiler
