// SPDX-License-Identifier: Apache-2.0
#include "proto/plain_text/nearest_word.h"

#include <gtest/gtest.h>

namespace tritond::proto {
namespace {

TEST(NearestWord, ForgivesAFewMistakes) {
  const std::vector<std::string> words = {"compile", "prebuild", "cancel", "workers", "--target", "--token-file"};
  EXPECT_EQ(NearestWord("compil", words), "compile");
  EXPECT_EQ(NearestWord("complie", words), "compile");
  EXPECT_EQ(NearestWord("pre-build", words), "prebuild");
  EXPECT_EQ(NearestWord("--taget", words), "--target");
  EXPECT_EQ(NearestWord("work", words), "workers");  // Only one begins so.
}

TEST(NearestWord, DoesNotGuessWildly) {
  const std::vector<std::string> words = {"get", "run", "-o", "stats"};
  for (const char* word : {"", "x", "frobnicate", "list", "-z"}) EXPECT_EQ(NearestWord(word, words), "") << word;
  EXPECT_EQ(NearestWord("sta", {"stats", "start-over"}), "");  // Two begin so.
  EXPECT_EQ(NearestWord(std::string(100000, 'x'), {std::string(100000, 'x') + "y"}), "");
  EXPECT_EQ(NearestWord("get", {}), "");
}

TEST(NearestTarget, KnowsArchitecturesInOtherSpellings) {
  const std::vector<std::string> targets = {"emulated:cuda:90", "cuda:80", "cuda:90", "cuda:90a", "hip:gfx942", "host"};
  for (const char* target : {"sm_90", "sm90", "cuda90", "CUDA:90", "cuda:sm_90", "nvidia:90", "90"})
    EXPECT_EQ(NearestTarget(target, targets), "cuda:90") << target;
  EXPECT_EQ(NearestTarget("sm_90a", targets), "cuda:90a");
  EXPECT_EQ(NearestTarget("gfx942", targets), "hip:gfx942");
  EXPECT_EQ(NearestTarget("hst", targets), "host");
  for (const char* target : {"abacus:9000", ""}) EXPECT_EQ(NearestTarget(target, targets), "") << target;
}

}  // namespace
}  // namespace tritond::proto
