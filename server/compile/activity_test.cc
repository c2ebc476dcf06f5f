// SPDX-License-Identifier: Apache-2.0
#include "server/compile/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/compile/compile_call.h"
#include "server/errors/error_details.h"
#include "server/results/result_store.h"

namespace tritond::server {
namespace {

class ActivityTest : public testing::Test {
 protected:
  static FinishedJob Job(absl::Status status = absl::OkStatus()) {
    FinishedJob job;
    job.id = "id";
    job.worker = "w1";
    job.attempts = 1;
    job.status = std::move(status);
    job.queue_time = absl::Milliseconds(2);
    job.run_time = absl::Milliseconds(30);
    return job;
  }
  static Outcome Success() {
    auto result = std::make_shared<StoredResult>();
    v1::StageTime& time = *result->action.add_stage_times();
    time.set_stage(v1::STAGE_LLIR);
    time.set_wall_ns(5000000);
    v1::Artifact& artifact = *result->action.add_artifacts();
    artifact.set_kind(v1::STAGE_ASM);
    artifact.set_format("ptx");
    artifact.set_digest("digest");
    result->action.mutable_request()->set_digest("request");
    result->action.mutable_request()->set_kind(v1::STAGE_TTIR);
    result->action.set_cost_cpu_seconds(1.5);
    result->action.set_peak_memory_bytes(1 << 20);
    result->action.set_daemon("red");
    result->action.set_worker("node/17");
    Outcome outcome;
    outcome.value = std::move(result);
    return outcome;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  prometheus::Registry registry_;
  Metrics metrics_{registry_};
  Activity activity_{[this] { return now_; }, metrics_};
};

TEST_F(ActivityTest, ASuccessIsRecordedWithWhatItsWorkerSaid) {
  activity_.OnEnd(Job(), Success());
  const auto record = activity_.jobs().Find("id");
  ASSERT_NE(record, nullptr);
  ASSERT_EQ(record->stages.size(), 1u);
  EXPECT_EQ(record->stages[0].name, "llir");
  EXPECT_EQ(record->stages[0].wall, absl::Milliseconds(5));
  EXPECT_EQ(record->texts[0].format, "ptx");
  EXPECT_EQ(record->request, "request");
  EXPECT_EQ(record->input, "ttir");
  EXPECT_EQ(record->cpu_seconds, 1.5);
  EXPECT_EQ(record->peak_memory_bytes, 1u << 20);
  EXPECT_EQ(record->followed, "");
  EXPECT_EQ(record->job.worker, "node/17");
  EXPECT_EQ(activity_.waits().Points().back().count, 1u);
  EXPECT_EQ(activity_.runs().Points().back().count, 1u);
}

TEST_F(ActivityTest, ResourcesAreWhatTheMetadataSays) {
  Outcome outcome = Success();
  const auto resources = [&](const std::string& metadata) {
    auto result = std::make_shared<StoredResult>(static_cast<const StoredResult&>(*outcome.value));
    result->action.set_metadata_json(metadata);
    outcome.value = result;
    activity_.OnEnd(Job(), outcome);
    return activity_.jobs().Find("id")->resources;
  };
  EXPECT_EQ(resources(R"({"shared": 4096})").shared_bytes, std::optional<uint64_t>(4096));
  EXPECT_EQ(resources(R"({"shared": 0})").shared_bytes, std::optional<uint64_t>(0));
  for (const char* none : {"", "{", "[]", "{}", R"({"shared": "many"})", R"({"shared": -1})"})
    EXPECT_EQ(resources(none).shared_bytes, std::nullopt) << none;
  const KernelResources all = resources(
      R"({"resources": {"registers": 40, "local_bytes": 0, "warps": 48, "most_warps": 64, "limit": "registers"}})");
  EXPECT_EQ(all.registers, std::optional<uint64_t>(40));
  EXPECT_EQ(all.local_bytes, std::optional<uint64_t>(0));
  EXPECT_EQ(all.warps, std::optional<uint64_t>(48));
  EXPECT_EQ(all.most_warps, std::optional<uint64_t>(64));
  EXPECT_EQ(all.limit, "registers");
  for (const char* none : {R"({"resources": 3})", R"({"resources": {"registers": [], "limit": 4}})"})
    EXPECT_EQ(resources(none).registers, std::nullopt) << none;
}

TEST_F(ActivityTest, TheRequestOfAFailureIsKeptAndThatOfACancelledOneIsNot) {
  auto request = std::make_shared<v1::CompileRequest>();
  request->set_ir("module {}");
  request->set_input(v1::STAGE_TTIR);
  FinishedJob job = Job();
  job.payload = std::make_shared<CompilePayload>(request);
  for (const absl::Status& status : {absl::CancelledError("left"), absl::InvalidArgumentError("bad")}) {
    EXPECT_EQ(activity_.failed_requests().Find("id"), std::nullopt);
    Outcome outcome;
    job.status = outcome.status = status;
    activity_.OnEnd(job, outcome);
  }
  EXPECT_EQ(activity_.failed_requests().Find("id"), request->SerializeAsString());
  EXPECT_EQ(activity_.jobs().Find("id")->input, "ttir");
  EXPECT_EQ(activity_.jobs().Find("id")->job.payload, nullptr) << "the memory of the request is given back";
}

TEST_F(ActivityTest, ARecalledResultsTimesAreNotThisJobs) {
  Outcome outcome = Success();
  outcome.stored = true;
  activity_.OnEnd(Job(), outcome);
  const auto record = activity_.jobs().Find("id");
  EXPECT_TRUE(record->recalled);
  EXPECT_TRUE(record->stages.empty());
  EXPECT_EQ(record->cpu_seconds, 0);
  EXPECT_EQ(record->job.worker, "w1");
  EXPECT_EQ(record->texts.size(), 1u);
}

TEST_F(ActivityTest, AFollowedJobHasTheStagesAndTheNameOfTheDaemonThatCompiled) {
  FinishedJob job = Job();
  job.attempts = 0;
  job.worker = "";
  Outcome outcome = Success();
  outcome.elsewhere = true;
  activity_.OnEnd(job, outcome);
  const auto record = activity_.jobs().Find("id");
  EXPECT_EQ(record->followed, "red");
  EXPECT_EQ(record->stages.size(), 1u);
  EXPECT_EQ(record->cpu_seconds, 1.5);
  EXPECT_EQ(record->job.worker, "node/17");
  EXPECT_EQ(activity_.runs().Points().back().count, 0u);
}

TEST_F(ActivityTest, AFailureIsRecordedWithItsDiagnostics) {
  v1::CompileFailure failure;
  v1::Diagnostic& diagnostic = *failure.add_diagnostics();
  diagnostic.set_stage(v1::STAGE_TTIR);
  diagnostic.set_line(3);
  diagnostic.set_column(7);
  diagnostic.set_message("no such op");
  failure.set_cost_cpu_seconds(0.5);
  failure.set_peak_memory_bytes(2 << 20);
  failure.set_daemon("blue");
  Outcome outcome;
  outcome.elsewhere = true;
  outcome.status = WithReason(absl::InvalidArgumentError("no"), Reason::kCompileFailed);
  AddDetail(failure, &outcome.status);
  activity_.OnEnd(Job(outcome.status), outcome);
  const auto record = activity_.jobs().Find("id");
  EXPECT_EQ(record->reason, "COMPILE_FAILED");
  EXPECT_THAT(record->diagnostics, testing::ElementsAre("ttir:3:7: no such op"));
  EXPECT_TRUE(record->request.empty());
  EXPECT_EQ(record->cpu_seconds, 0.5);
  EXPECT_EQ(record->peak_memory_bytes, 2u << 20);
  EXPECT_EQ(record->followed, "blue");
}

TEST_F(ActivityTest, AJobThatNeverRanHasNoRunTime) {
  FinishedJob job = Job(absl::CancelledError("nobody waits for it"));
  job.attempts = 0;
  Outcome outcome;
  outcome.status = job.status;
  outcome.reason = Reason::kCancelled;
  activity_.OnEnd(job, outcome);
  EXPECT_EQ(activity_.jobs().Find("id")->reason, "CANCELLED");
  EXPECT_EQ(activity_.runs().Points().back().count, 0u);
}

TEST_F(ActivityTest, HitsAreTimedAndIdsDiffer) {
  activity_.OnHit(absl::Microseconds(40));
  EXPECT_EQ(activity_.hits().Points().back().count, 1u);
  EXPECT_EQ(metrics_.hit_seconds.Collect().histogram.sample_count, 1u);
  EXPECT_NE(activity_.NewJobId(), activity_.NewJobId());
}

}  // namespace
}  // namespace tritond::server
