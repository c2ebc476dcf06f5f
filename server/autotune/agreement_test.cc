// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Candidates whose output is one number, compared with a tolerance of 0.1.
class AgreementTest : public testing::Test {
 protected:
  Agreement Of(std::vector<double> outputs) {
    outputs_ = std::move(outputs);
    Agreement agreement([this](size_t a, size_t b) { return std::abs(outputs_[a] - outputs_[b]) <= 0.1; });
    for (size_t i = 0; i < outputs_.size(); ++i) agreement.Add(i);
    return agreement;
  }
  std::vector<double> outputs_;
};

TEST_F(AgreementTest, NothingIsRightBeforeTheFirst) {
  const Agreement agreement = Of({});
  EXPECT_THAT(agreement.Right(), IsEmpty());
  EXPECT_THAT(agreement.Wrong(), IsEmpty());
}

TEST_F(AgreementTest, TheMajorityIsRightEvenIfTheFirstDisagrees) {
  const Agreement agreement = Of({7, 1.0, 1.05, 0.95});
  EXPECT_THAT(agreement.Right(), ElementsAre(1, 2, 3));
  EXPECT_THAT(agreement.Wrong(), ElementsAre(0));
  EXPECT_FALSE(agreement.IsTied());
}

TEST_F(AgreementTest, TheGroupOfTheFirstCandidateWinsATie) {
  const Agreement agreement = Of({3, 5, 5, 3});
  EXPECT_THAT(agreement.Right(), ElementsAre(0, 3));
  EXPECT_TRUE(agreement.IsTied());
}

TEST_F(AgreementTest, PoisonThatIsLeftAgreesWithNothingNotEvenItself) {
  const Agreement agreement = Of({std::nan(""), std::nan(""), 1});
  EXPECT_THAT(agreement.Right(), ElementsAre(0));
  EXPECT_TRUE(agreement.IsTied());
}

TEST_F(AgreementTest, SlowlyWanderingOutputsDoNotPullAGroupAlong) {
  const Agreement agreement = Of({1.0, 1.08, 1.16, 1.24});
  EXPECT_THAT(agreement.Right(), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tritond::server
