// SPDX-License-Identifier: Apache-2.0
// The wall clock of a daemon and its workers is stepped, as by NTP after a boot or by hand.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

// Three of them without a word count as a loss.
constexpr absl::Duration kHeartbeat = absl::Milliseconds(700);

class ClockStep : public testing::Test {
 protected:
  void SetUp() override {
    StepTo(absl::ZeroDuration());
    setenv("GRPC_CLOCK_STEP", (daemon.folder() + "/step").c_str(), 1);
    daemon.preload = TRITOND_CLOCK_STEP_LIBRARY;
    ASSERT_TRUE(daemon.Start());
  }
  void TearDown() override { unsetenv("GRPC_CLOCK_STEP"); }

  // The clocks are ahead of the true one by as much from now on.
  void StepTo(absl::Duration ahead) {
    ahead_ = ahead;
    const int64_t nanoseconds = absl::ToInt64Nanoseconds(ahead);
    std::fstream file(daemon.folder() + "/step", std::ios::in | std::ios::out | std::ios::binary);
    if (!file.is_open()) file.open(daemon.folder() + "/step", std::ios::out | std::ios::binary);
    ASSERT_TRUE(file.write(reinterpret_cast<const char*>(&nanoseconds), sizeof(nanoseconds)).flush());
  }

  // How far a time that the daemon tells is from now by its wall clock.
  absl::Duration Off(const google::protobuf::Timestamp& time) const {
    return absl::AbsDuration(absl::Now() + ahead_ - absl::FromUnixSeconds(time.seconds()));
  }

  // Steps the clock under a compile, whose worker falls silent afterwards.
  void ExpectThatWorkGoesOn(absl::Duration ahead, uint64_t number) {
    const v1::GetStatsResponse before = daemon.Stats();
    const std::string go = daemon.folder() + "/go" + std::to_string(number);
    StuckCompile compile(daemon, go, number);
    ASSERT_TRUE(Await([&] { return Running(daemon); }));
    StepTo(ahead);
    absl::SleepFor(4 * kHeartbeat);  // more than the silence that counts as a loss
    EXPECT_EQ(daemon.Stats().workers_lost(), before.workers_lost()) << daemon.Log();
    EXPECT_EQ(daemon.Stats().compiles(), before.compiles() + 1);
    const v1::ListWorkersResponse list = daemon.Workers();
    for (const v1::Worker& worker : list.workers()) {
      EXPECT_LE(Off(worker.last_heard()), WithinReason(absl::Seconds(3))) << "heartbeats come";
      if (worker.state() == v1::Worker::STATE_BUSY) kill(static_cast<pid_t>(worker.pid()), SIGSTOP);
    }
    // The silence is noticed; the compile begins again, and where its worker was killed there is one again.
    EXPECT_TRUE(Await([&] { return daemon.Stats().compiles() == before.compiles() + 2; })) << daemon.Log();
    EXPECT_TRUE(Await([&] { return daemon.WorkerPids().size() == 2; })) << daemon.Log();
    compile.LetGo();
    compile.ExpectAnswer();
    const v1::GetStatsResponse stats = daemon.Stats(/*recent_jobs=*/1);
    ASSERT_EQ(stats.recent_size(), 1);
    EXPECT_LE(stats.recent(0).run_time().seconds(), 60);
    EXPECT_LE(stats.recent(0).queue_time().seconds(), 60);
    EXPECT_LE(Off(stats.recent(0).finished()), absl::Minutes(1));
    EXPECT_LE(Off(stats.started()), absl::Minutes(2));
  }

  DaemonProcess daemon{{"--heartbeat-seconds", absl::StrCat(absl::ToDoubleSeconds(kHeartbeat))}};
  absl::Duration ahead_;
};

TEST_F(ClockStep, ForwardCostsNothing) {
  ExpectThatWorkGoesOn(absl::Hours(1), 1);
  EXPECT_EQ(daemon.Terminate(), 0);
}

TEST_F(ClockStep, BackCostsNothing) {
  ExpectThatWorkGoesOn(-absl::Hours(1), 1);
  EXPECT_EQ(daemon.Terminate(), 0);
}

TEST_F(ClockStep, AMissRightAfterAStepBackHasTheTimeThatItsCallerGave) {
  Stubs stubs(daemon.address());
  for (uint64_t number = 1; number <= 20; ++number) {
    v1::CompileResponse response;
    // What reads the time by counting cycles has just looked at the clock when it is set back.
    ASSERT_TRUE(Compile(stubs, NumberedRequest(1000 + number), &response).ok());
    StepTo(-absl::Minutes(10) * static_cast<int64_t>(number));
    const grpc::Status status = Compile(stubs, NumberedRequest(number), &response);
    EXPECT_TRUE(status.ok()) << "step " << number << ": " << status.error_message();
    EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  }
  EXPECT_EQ(daemon.Terminate(), 0);
}

TEST_F(ClockStep, ASubmittedJobIsKeptAndTellsTheTimeOfItsDay) {
  Stubs stubs(daemon.address());
  StepTo(absl::Hours(-5));
  grpc::ClientContext context;
  v1::SubmitRequest request;
  *request.mutable_request() = NumberedRequest(1);
  v1::Job job;
  ASSERT_TRUE(stubs.compile->Submit(&context, request, &job).ok());
  const auto get = [&] {
    grpc::ClientContext get_context;
    v1::GetJobRequest get_request;
    get_request.set_id(job.id());
    return stubs.compile->GetJob(&get_context, get_request, &job).ok();
  };
  ASSERT_TRUE(Await([&] { return get() && job.state() == v1::JOB_STATE_SUCCEEDED; }));
  EXPECT_LE(Off(job.finished()), absl::Minutes(1));
  daemon.Kill();
  StepTo(absl::Hours(1));
  ASSERT_TRUE(daemon.Start());
  EXPECT_TRUE(get()) << "six hours old is younger than a day";
}

}  // namespace
}  // namespace tritond::tests
