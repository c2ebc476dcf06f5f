// SPDX-License-Identifier: Apache-2.0
// Turns on the host device, with kernels that crash, hang and lie.
#include "workers/measure/turn_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/sanitizer.h"

namespace tritond::workers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kHang = absl::Milliseconds(500);

class TurnRunnerTest : public testing::Test {
 protected:
  TurnRunnerTest() : session_({{TRITOND_KERNEL_PROCESS}}, "host:0"), runner_(session_, {kHang, absl::Seconds(60)}) {
    std::ifstream file(TRITOND_TEST_KERNELS, std::ios::binary);
    binary_ = std::string(std::istreambuf_iterator<char>(file), {});
    job_.set_device("host:0");
    job_.set_tuning("a tuning");
    job_.set_rounds(2);
    job_.set_warmup(1);
    job_.set_samples(3);
    v1::Buffer& out = *job_.mutable_launch()->add_arguments()->mutable_buffer();
    out.set_type("i32");
    out.set_elements(64);
    out.set_role(v1::Buffer::ROLE_OUTPUT);
  }

  void Add(const std::string& kernel) {
    v1::MeasureJob::Candidate& candidate = *job_.add_candidates();
    candidate.set_index(job_.candidates_size() - 1);
    candidate.set_binary(binary_);
    candidate.set_metadata_json(absl::StrCat(R"({"name": ")", kernel, R"(", "num_warps": 2, "shared": 256})"));
    candidate.mutable_grid()->set_x(1);
    candidate.mutable_grid()->set_y(1);
    candidate.mutable_grid()->set_z(1);
  }
  void ExpectTriples() {
    std::string bytes(64 * 4, '\0');
    for (int32_t i = 0; i < 64; ++i) {
      const int32_t value = 3 * i;
      bytes.replace(i * 4, 4, reinterpret_cast<const char*>(&value), 4);
    }
    job_.mutable_launch()->mutable_arguments(0)->mutable_buffer()->mutable_reference()->set_data(bytes);
  }
  static std::vector<uint32_t> Visits(const v1::MeasureOutcome& outcome) {
    std::vector<uint32_t> order;
    for (const auto& visit : outcome.visits()) order.push_back(visit.index());
    return order;
  }
  // Of each candidate: a number of samples over all rounds.
  static std::vector<int> Samples(const v1::MeasureOutcome& outcome) {
    std::vector<int> samples(outcome.candidates_size());
    for (const auto& visit : outcome.visits()) samples[visit.index()] += visit.samples_us_size();
    return samples;
  }

  std::string binary_;
  v1::MeasureJob job_;
  DeviceSession session_;
  TurnRunner runner_;
};

TEST_F(TurnRunnerTest, CandidatesAreVisitedForthAndBack) {
  for (int i = 0; i < 3; ++i) Add("triple");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  EXPECT_THAT(Visits(outcome), ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_THAT(Samples(outcome), ElementsAre(6, 6, 6));
  EXPECT_GT(outcome.busy().nanos() + outcome.busy().seconds(), 0);
}

TEST_F(TurnRunnerTest, TheSlowKernelIsTheSlowOne) {
  Add("triple_slowly");
  Add("triple");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.visits_size(), 4);
  EXPECT_GT(outcome.visits(0).samples_us(0), outcome.visits(1).samples_us(0));
}

TEST_F(TurnRunnerTest, AVisitThatBeginsHopelesslyEndsAfterOneSample) {
  Add("triple");
  job_.set_rounds(1);
  job_.set_stop_above_us(1e-6);
  EXPECT_THAT(Samples(runner_.Run(job_)), ElementsAre(1));
}

TEST_F(TurnRunnerTest, ACrashCostsTheCandidateAndNobodyElse) {
  Add("triple");
  Add("triple_crash");
  Add("triple");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  EXPECT_THAT(Samples(outcome), ElementsAre(6, 0, 6));
  // A sanitizer catches the signal, and the process exits.
  if (!tests::kSanitized) EXPECT_THAT(outcome.candidates(1).message(), HasSubstr("killed by signal 11"));
  EXPECT_FALSE(outcome.candidates(1).wrong());
  EXPECT_EQ(outcome.candidates(0).output_group(), outcome.candidates(2).output_group());
}

TEST_F(TurnRunnerTest, AHangCostsItsTimeLimit) {
  Add("triple_hang");
  Add("triple");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  EXPECT_THAT(Samples(outcome), ElementsAre(0, 6));
  EXPECT_THAT(outcome.candidates(0).message(), HasSubstr("ran longer than 500ms"));
}

TEST_F(TurnRunnerTest, OutputsThatAreNotTheReferenceAreWrong) {
  ExpectTriples();
  Add("triple_wrong");
  Add("triple");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_TRUE(outcome.candidates(0).wrong());
  EXPECT_THAT(outcome.candidates(0).message(), HasSubstr("64 of 64 elements differ, first [0]: 1, expected 0"));
  EXPECT_THAT(Samples(outcome), ElementsAre(0, 6));
}

TEST_F(TurnRunnerTest, WithoutAReferenceCandidatesFormGroups) {
  for (const char* kernel : {"triple", "triple_wrong", "triple", "triple_added"}) Add(kernel);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_EQ(outcome.candidates(0).output_group(), outcome.candidates(2).output_group());
  EXPECT_NE(outcome.candidates(0).output_group(), outcome.candidates(1).output_group());
  EXPECT_NE(outcome.candidates(3).output_group(), outcome.candidates(0).output_group());
  EXPECT_NE(outcome.candidates(3).output_group(), outcome.candidates(1).output_group());
}

TEST_F(TurnRunnerTest, AKernelThatWritesNothingIsWrong) {
  Add("triple_not");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_TRUE(outcome.candidates(0).wrong());
  EXPECT_THAT(outcome.candidates(0).message(), HasSubstr("wrote nothing"));
}

TEST_F(TurnRunnerTest, GroupsOutliveTheProcessThatFoundThem) {
  for (const char* kernel : {"triple", "triple_wrong", "triple_crash", "triple_wrong", "triple"}) Add(kernel);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_EQ(outcome.candidates(0).output_group(), outcome.candidates(4).output_group());
  EXPECT_EQ(outcome.candidates(1).output_group(), outcome.candidates(3).output_group());
  EXPECT_NE(outcome.candidates(0).output_group(), outcome.candidates(1).output_group());
}

TEST_F(TurnRunnerTest, GroupsOfOneTuningLastFromJobToJob) {
  Add("triple_wrong");
  const uint32_t first = runner_.Run(job_).candidates(0).output_group();
  Add("triple");
  const v1::MeasureOutcome second = runner_.Run(job_);
  EXPECT_EQ(second.candidates(0).output_group(), first);
  EXPECT_NE(second.candidates(1).output_group(), first);
}

TEST_F(TurnRunnerTest, WithoutRoundsCandidatesAreLoadedAndNotRun) {
  Add("triple_crash");
  Add("no_such_kernel");
  job_.set_rounds(0);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  EXPECT_EQ(outcome.candidates(0).code(), 0) << outcome.candidates(0).message();
  EXPECT_NE(outcome.candidates(1).code(), 0);
  EXPECT_EQ(outcome.visits_size(), 0);
}

TEST_F(TurnRunnerTest, ALaunchThatCannotBeIsTheJobsErrorAndNotTheDevices) {
  Add("triple");
  job_.mutable_launch()->mutable_arguments(0)->mutable_buffer()->set_type("quux");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_EQ(outcome.code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(outcome.message(), HasSubstr("launch.arguments[0]"));
  EXPECT_FALSE(outcome.device_lost());
}

TEST_F(TurnRunnerTest, ASpentBudgetEndsTheJobWithWhatThereIs) {
  Add("triple");
  Add("triple");
  job_.set_rounds(1000000);
  job_.mutable_budget()->set_nanos(200000000);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_GT(outcome.visits_size(), 0);
  EXPECT_LT(outcome.visits_size(), 2000000);
}

TEST_F(TurnRunnerTest, ADeviceThatDoesNotOpenIsLost) {
  DeviceSession nowhere({{TRITOND_KERNEL_PROCESS}}, "cuda:99");
  TurnRunner runner(nowhere, TurnRunner::Limits());
  Add("triple");
  const v1::MeasureOutcome outcome = runner.Run(job_);
  EXPECT_NE(outcome.code(), 0);
  EXPECT_TRUE(outcome.device_lost());
}

TEST_F(TurnRunnerTest, ADeviceProcessThatIsNoneIsLostWithItsExitStatus) {
  DeviceSession broken({{"/bin/false"}}, "host:0");
  const auto opened = broken.Open();
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("exited with status 1"));
}

}  // namespace
}  // namespace tritond::workers
