// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <gtest/gtest.h>

#include <set>

namespace tritond::tests {
namespace {

const std::vector<std::string>& Corpus() {
  static const auto* corpus = new std::vector<std::string>{
      "module {\n  %0 = arith.addi %a, %b : tensor<16xi32>\n  %1 = tt.splat %c : f32 -> tensor<8x8xf32>\n}\n",
      "tt.return\n"};
  return *corpus;
}

TEST(Mutator, OneSeedGivesOneText) {
  Mutator a(5, Corpus()), b(5, Corpus());
  EXPECT_EQ(a.Mutate(Corpus()[0]), b.Mutate(Corpus()[0]));
}

TEST(Mutator, MostTextsChangeAndMostDiffer) {
  std::set<std::string> texts;
  for (int seed = 0; seed < 200; ++seed) texts.insert(Mutator(seed, Corpus()).Mutate(Corpus()[0]));
  EXPECT_GT(texts.size(), 100u);
}

TEST(Mutator, AnyTextWillDo) {
  const std::vector<std::string> corpus = {"", "\n", "x", std::string(3, '\0')};
  int changed = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const std::string& text = corpus[seed % corpus.size()];
    changed += Mutator(seed, corpus).Mutate(text) != text ? 1 : 0;
  }
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace tritond::tests
