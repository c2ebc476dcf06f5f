// SPDX-License-Identifier: Apache-2.0
// A few hundred random kernels, ten to a case. More of them: build/bin/random-kernels --seeds 0:100000.
#include "tests/conformance/random_kernel.h"

#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

constexpr int kPerCase = 10;

void CheckCase(int number, int lengths, tests::Theme theme) {
  int unsupported = 0;
  for (int i = 0; i < kPerCase; ++i) {
    int seed = number * kPerCase + i;
    Trial trial = TryAndShorten(MachineFor(seed), seed, 4 + seed % lengths, "", theme);
    EXPECT_NE(trial.verdict, Verdict::kWrong) << trial.explanation;
    if (trial.verdict == Verdict::kUnsupported) ++unsupported;
  }
  EXPECT_LE(unsupported, 2) << "too little of Triton IR is supported for this test to say much";
}

class RandomKernel : public testing::TestWithParam<int> {};
TEST_P(RandomKernel, ComputesWhatTheEvaluatorDoes) { CheckCase(GetParam(), 16, tests::Theme::kAny); }

class RandomGathers : public testing::TestWithParam<int> {};
TEST_P(RandomGathers, ComputeWhatTheEvaluatorDoes) { CheckCase(GetParam(), 1, tests::Theme::kGathers); }

class RandomOrders : public testing::TestWithParam<int> {};
TEST_P(RandomOrders, EndAsTheEvaluatorDoes) { CheckCase(GetParam(), 8, tests::Theme::kOrders); }

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernel, testing::Range(0, 30));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGathers, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrders, testing::Range(0, 10));

}  // namespace
}  // namespace tritond::conformance
