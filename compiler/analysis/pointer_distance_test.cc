// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/pointer_distance.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tritond::compiler {
namespace {

using Term = PointerSum::Term;

PointerSum Sum(int64_t constant, llvm::ArrayRef<Term> terms) {
  PointerSum sum;
  sum.constant = constant;
  sum.terms.assign(terms.begin(), terms.end());
  return sum;
}

const Term kRow{1, 63}, kIterations{128, std::nullopt};

TEST(PointerDistance, HalvesOfARowAreApartInAllIterations) {
  EXPECT_TRUE(AreApart(Sum(0, {kRow, kIterations}), Sum(64, {kRow, kIterations})));
  EXPECT_TRUE(AreApart(Sum(64, {kRow, kIterations}), Sum(0, {kRow, kIterations})));
}

TEST(PointerDistance, WhatMayMeetIsNotApart) {
  EXPECT_FALSE(AreApart(Sum(0, {kRow}), Sum(0, {kRow})));
  EXPECT_FALSE(AreApart(Sum(0, {kRow}), Sum(63, {kRow})));
  EXPECT_FALSE(AreApart(Sum(0, {kRow, {96, std::nullopt}}), Sum(64, {kRow, {96, std::nullopt}})));
  EXPECT_FALSE(AreApart(Sum(0, {kRow, {1, std::nullopt}}), Sum(1 << 20, {kRow})));
}

TEST(PointerDistance, ColumnsOfATileAreApart) {
  const Term rows{256, 31}, columns{1, 127};
  EXPECT_TRUE(AreApart(Sum(0, {rows, columns}), Sum(128, {rows, columns})));
  EXPECT_FALSE(AreApart(Sum(0, {rows, columns}), Sum(127, {rows, columns})));
}

TEST(PointerDistance, EvenAndOddElementsAreApart) {
  const Term even{2, 1023};
  EXPECT_TRUE(AreApart(Sum(0, {even}), Sum(1, {even})));
  EXPECT_FALSE(AreApart(Sum(0, {even}), Sum(2, {even})));
}

PointerSum InLoop(int64_t growth, llvm::ArrayRef<Term> terms) {
  PointerSum sum = Sum(0, terms);
  sum.terms.push_back({1, std::nullopt});
  if (growth != 0) sum.moves.push_back({std::abs(growth), std::nullopt});
  return sum;
}

TEST(PointerDistance, RowsThatMoveByLessThanTheirLengthMeetThemselves) {
  EXPECT_TRUE(MeetsItself(InLoop(1, {kRow})));
  EXPECT_TRUE(MeetsItself(InLoop(-63, {kRow})));
  EXPECT_FALSE(MeetsItself(InLoop(64, {kRow})));
  EXPECT_FALSE(MeetsItself(InLoop(0, {kRow})));
  EXPECT_FALSE(MeetsItself(InLoop(1, {{2, 31}})));
  EXPECT_FALSE(MeetsItself(Sum(0, {kRow})));
}

TEST(PointerDistance, TilesMoveByRowsAndColumnsAtOnce) {
  const Term rows{8, 31}, columns{1, 7};
  EXPECT_TRUE(MeetsItself(InLoop(9, {rows, columns})));
  EXPECT_FALSE(MeetsItself(InLoop(9, {{64, 31}, columns})));
  EXPECT_FALSE(MeetsItself(InLoop(256, {rows, columns})));
}

// Two rows are apart by two: a loop of which that is known comes there.
TEST(PointerDistance, LoopsComeToTheNextRowIfTheyGoOnSoFar) {
  PointerSum sum = Sum(0, {{2, 31}});
  sum.moves = {{1, 1}};
  EXPECT_FALSE(MeetsItself(sum));
  sum.moves = {{1, 2}};
  EXPECT_TRUE(MeetsItself(sum));
}

// All elements of a sum; of "any number", a few.
std::set<int64_t> ElementsOf(const PointerSum& sum) {
  std::set<int64_t> elements{sum.constant};
  for (const Term& term : sum.terms) {
    std::set<int64_t> next;
    const int64_t first = term.last ? 0 : -12, last = term.last.value_or(12);
    for (int64_t element : elements)
      for (int64_t n = first; n <= last; ++n) next.insert(element + term.factor * n);
    elements = std::move(next);
  }
  return elements;
}

TEST(PointerDistance, SumsThatAreApartHaveNoElementInCommon) {
  std::minstd_rand random(1);
  const auto pick = [&](int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); };
  int apart = 0;
  for (int round = 0; round < 3000; ++round) {
    PointerSum sums[2];
    for (PointerSum& sum : sums) {
      sum.constant = pick(-20, 20);
      for (int64_t i = pick(0, 3); i > 0; --i) {
        Term term{pick(-4, 4) * pick(1, 4), pick(0, 5)};
        if (term.factor == 0) continue;
        if (pick(0, 3) == 0) term = {std::abs(term.factor), std::nullopt};
        sum.terms.push_back(term);
      }
    }
    if (!AreApart(sums[0], sums[1])) continue;
    ++apart;
    const std::set<int64_t> a = ElementsOf(sums[0]), b = ElementsOf(sums[1]);
    for (int64_t element : a) ASSERT_EQ(b.count(element), 0) << element << " in round " << round;
  }
  EXPECT_GT(apart, 300);
}

}  // namespace
}  // namespace tritond::compiler
