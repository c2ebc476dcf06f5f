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

class RandomClusters : public testing::TestWithParam<int> {};
TEST_P(RandomClusters, ComputeWhatTheEvaluatorDoes) {
  constexpr char kDevice[] = "emulated:cuda:90";  // whose programs may be clusters of blocks
  for (int i = 0; i < kPerCase; ++i) {
    const int seed = 50000 + GetParam() * kPerCase + i;
    const std::string options = absl::StrCat("\"num_ctas\": ", 2 << seed % 2);
    const tests::Theme theme = seed % 3 == 0 ? tests::Theme::kOrders : tests::Theme::kAny;
    Trial trial = TryAndShorten({kDevice, kDevice, 1 << seed / 2 % 4}, seed, 4 + seed % 12, options, theme);
    EXPECT_NE(trial.verdict, Verdict::kWrong) << trial.explanation;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomClusters, testing::Range(0, 10));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernel, testing::Range(0, 30));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGathers, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrders, testing::Range(0, 10));

}  // namespace
}  // namespace tritond::conformance
