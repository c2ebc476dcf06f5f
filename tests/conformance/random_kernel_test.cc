// SPDX-License-Identifier: Apache-2.0
// A few hundred random kernels, ten to a case. More of them: build/bin/random-kernels --seeds 0:100000.
#include "tests/conformance/random_kernel.h"

#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

constexpr int kPerCase = 10;

class RandomKernel : public testing::TestWithParam<int> {};

TEST_P(RandomKernel, ComputesWhatTheEvaluatorDoes) {
  int unsupported = 0;
  for (int i = 0; i < kPerCase; ++i) {
    int seed = GetParam() * kPerCase + i;
    Trial trial = TryAndShorten(MachineFor(seed), seed, 4 + seed % 16);
    EXPECT_NE(trial.verdict, Verdict::kWrong) << trial.explanation;
    if (trial.verdict == Verdict::kUnsupported) ++unsupported;
  }
  EXPECT_LE(unsupported, 2) << "too little of Triton IR is supported for this test to say much";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernel, testing::Range(0, 30));

}  // namespace
}  // namespace tritond::conformance
