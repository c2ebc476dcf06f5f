// SPDX-License-Identifier: Apache-2.0
// Turns on the host device, with kernels that crash, hang and lie; and on GPUs whose drivers are faked.
#include "workers/measure/turn_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
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

TEST_F(TurnRunnerTest, ACrashCostsTheCandidateAlone) {
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

// A GPU whose driver is faked (workers/device/fake_gpu.h). Binaries are as little as its driver takes.
struct FakeGpu {
  std::string kind;
  std::string library;
  std::string binary;
  std::string model;
};

class TurnsOnAGpu : public testing::TestWithParam<FakeGpu> {
 protected:
  TurnsOnAGpu()
      : lost_(absl::StrCat(testing::TempDir(), "lost_of_turns_", GetParam().kind)),
        session_({{TRITOND_KERNEL_PROCESS, absl::StrCat(GetParam().kind, "=", GetParam().library)}},
                 absl::StrCat(GetParam().kind, ":0")),
        runner_(session_, {kHang, absl::Seconds(60)}) {
    std::filesystem::remove(lost_);
    setenv("TRITOND_FAKE_GPU_LOST", lost_.c_str(), 1);
    job_.set_device(session_.device());
    job_.set_tuning("a tuning");
    job_.set_rounds(2);
    job_.set_samples(2);
    v1::Buffer& out = *job_.mutable_launch()->add_arguments()->mutable_buffer();
    out.set_type("i32");
    out.set_elements(64);
    out.set_role(v1::Buffer::ROLE_OUTPUT);
  }
  ~TurnsOnAGpu() override {
    session_.End();
    unsetenv("TRITOND_FAKE_GPU_LOST");
    std::filesystem::remove(lost_);
  }

  void Add(const std::string& kernel) {
    v1::MeasureJob::Candidate& candidate = *job_.add_candidates();
    candidate.set_index(job_.candidates_size() - 1);
    candidate.set_binary(GetParam().binary);
    const int shared = kernel == "use_shared" ? 256 : 0;
    candidate.set_metadata_json(absl::StrCat(R"({"name": ")", kernel, R"(", "num_warps": 2, "shared": )", shared, "}"));
    for (auto set : {&v1::Grid::set_x, &v1::Grid::set_y, &v1::Grid::set_z}) (candidate.mutable_grid()->*set)(1);
  }

  const std::string lost_;
  v1::MeasureJob job_;
  DeviceSession session_;
  TurnRunner runner_;
};

std::string SpirvHeader() { return std::string("\x03\x02\x23\x07\x00\x04\x01\x00", 8) + std::string(12, '\0'); }

std::string HsacoHeader() {
  std::string header(64, '\0');
  header.replace(0, 5, "\x7f\x45\x4c\x46\x02");
  header[18] = static_cast<char>(224);  // the machine
  return header;
}

INSTANTIATE_TEST_SUITE_P(Fake, TurnsOnAGpu,
                         testing::Values(FakeGpu{"hip", TRITOND_FAKE_HIP, HsacoHeader(), "Fake Instinct"},
                                         FakeGpu{"ze", TRITOND_FAKE_LEVEL_ZERO, SpirvHeader(), "Fake Ponte Vecchio"},
                                         FakeGpu{"cl", TRITOND_FAKE_OPENCL, SpirvHeader(), "Fake Battlemage"}),
                         [](const auto& info) { return info.param.kind; });

TEST_P(TurnsOnAGpu, TimesAreTheDevicesAndItsDescriptionIsWhole) {
  Add("use_shared");
  const auto device = session_.Open();
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->model(), GetParam().model);
  EXPECT_NE(device->target(), "");
  EXPECT_GT(device->limits().shared_bytes_per_program(), 0u);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  ASSERT_EQ(outcome.visits_size(), 2) << outcome.candidates(0).message();
  for (const double sample : outcome.visits(0).samples_us()) EXPECT_NEAR(sample, 5, 0.05);
}

TEST_P(TurnsOnAGpu, AFaultOrAHangCostsItsCandidateAndItsProcess) {
  for (const char* kernel : {"use_shared", "fault", "hang", "no_such_kernel", "use_shared"}) Add(kernel);
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  ASSERT_EQ(outcome.code(), 0) << outcome.message();
  EXPECT_THAT(outcome.candidates(1).message(), HasSubstr("run fault"));
  EXPECT_THAT(outcome.candidates(2).message(), HasSubstr("ran longer than 500ms"));
  EXPECT_THAT(outcome.candidates(3).message(), HasSubstr("no_such_kernel"));
  for (const int good : {0, 4}) EXPECT_EQ(outcome.candidates(good).code(), 0) << outcome.candidates(good).message();
  EXPECT_EQ(outcome.candidates(0).output_group(), outcome.candidates(4).output_group());
  EXPECT_FALSE(outcome.device_lost());
}

TEST_P(TurnsOnAGpu, ALostDeviceEndsTheJobWithItsReason) {
  Add("lose_device");
  Add("use_shared");
  const v1::MeasureOutcome outcome = runner_.Run(job_);
  EXPECT_THAT(outcome.candidates(0).message(), HasSubstr("the device is lost"));
  EXPECT_NE(outcome.code(), 0);
  EXPECT_NE(outcome.message(), "");
  EXPECT_TRUE(outcome.device_lost());
}

}  // namespace
}  // namespace tritond::workers
