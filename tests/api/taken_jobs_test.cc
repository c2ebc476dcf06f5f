// SPDX-License-Identifier: Apache-2.0
// Callers at one daemon whose job another one runs.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "tests/support/cluster_fixture.h"

namespace tritond::tests {
namespace {

class TakenJobTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    config.cluster_lease_seconds = 1;
    Start();
    CompileOk(*compile, Request("so that the target is known"));
    Stop();
    StartOther();
    config.workers = 0;
    Start();
  }
  static grpc::Status StatusAt(v1::CompileService::Stub& at, const v1::CompileRequest& request) {
    v1::CompileResponse response;
    return CompileAt(at, request, &response);
  }
  void ForgetAllInTheEngine() {
    for (int node = 0; node < 3; ++node) EXPECT_EQ(nodes->Command(node, "flushall"), "OK");
  }
  uint64_t Taken() { return other->broker().cluster()->sharing_stats().taken; }
  server::Scheduler::Stats AtTheTaker() { return other->broker().scheduler().GetStats(); }
  size_t RunningAtTheTaker() { return AtTheTaker().classes[0].running; }
  // As many of one tenant as a batch may have in flight, which take a while each, in a class. The number of answers so
  // far is counted.
  std::thread StartBacklog(v1::Priority priority) {
    return std::thread([this, priority] {
      v1::CompileBatchRequest batch;
      for (int i = 0; i < 60; ++i) {
        v1::CompileRequest* request = batch.add_requests();
        *request = Request(absl::StrCat("backlog ", i));
        request->set_tenant("greedy");
        request->set_priority(priority);
        SetOption(request, "sleep_ms", 100);
      }
      grpc::ClientContext context;
      auto reader = compile->CompileBatch(&context, batch);
      v1::CompileBatchResponse response;
      while (reader->Read(&response)) answered += response.has_response();
      EXPECT_TRUE(reader->Finish().ok());
    });
  }

  std::atomic<int> answered = 0;
};

TEST_F(TakenJobTest, ACrashOrAnInternalErrorAtTheTakerEndsTheJob) {
  v1::CompileRequest crash = Request("crash");
  SetOption(&crash, "fault", "abort");
  const grpc::Status crashed = StatusAt(*compile, crash);
  EXPECT_EQ(ReasonOf(crashed), "QUARANTINED") << crashed.error_message();
  EXPECT_NE(DetailOf<v1::CrashReport>(crashed), nullptr);
  const grpc::Status internal = StatusAt(*compile, Request("error internal boom"));
  EXPECT_EQ(internal.error_code(), grpc::StatusCode::INTERNAL) << internal.error_message();
  EXPECT_EQ(Taken(), 2u);
  // Such an error is nobody's cached outcome: it is tried again for the next one.
  EXPECT_EQ(StatusAt(*compile, Request("error internal boom")).error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(Taken(), 3u);
  SubmitAndAwait(Request("error internal boom"), v1::JOB_STATE_FAILED);
}

TEST_F(TakenJobTest, TheTakerSharesAgainWhatTheEngineHasLost) {
  CompileOk(*other_compile, Request("kept by the taker"));
  EXPECT_EQ(StatusAt(*other_compile, Request("error invalid wrong")).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const uint64_t started = other->broker().scheduler().GetStats().started;
  ForgetAllInTheEngine();
  EXPECT_EQ(CompileOk(*compile, Request("kept by the taker")).cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_EQ(StatusAt(*compile, Request("error invalid wrong")).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(other->broker().scheduler().GetStats().started, started);
}

TEST_F(TakenJobTest, ABacklogOfOneTenantDoesNotKeepAnotherWaiting) {
  std::thread backlog = StartBacklog(v1::PRIORITY_INTERACTIVE);
  Await([&] { return answered >= 2; });
  v1::CompileRequest modest = Request("modest");
  modest.set_tenant("modest");
  const int before = answered;
  CompileOk(*compile, modest);
  EXPECT_LT(answered - before, 30);
  backlog.join();
  EXPECT_EQ(answered, 60);
}

TEST_F(TakenJobTest, AnUrgentJobIsTakenBeforeABacklogOfOthers) {
  std::thread backlog = StartBacklog(v1::PRIORITY_PREBUILD);
  Await([&] { return answered >= 2; });
  const int before = answered;
  CompileOk(*compile, Request("urgent"));
  EXPECT_LT(answered - before, 12);
  backlog.join();
}

TEST_F(TakenJobTest, AJobWithoutCallersIsCancelledAtTheTaker) {
  v1::CompileRequest request = Request("left");
  SetOption(&request, "wait_for_file", Path("never"));
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::CompileResponse response;
    EXPECT_EQ(compile->Compile(&context, request, &response).error_code(), grpc::StatusCode::CANCELLED);
  });
  Await([&] { return RunningAtTheTaker() == 1 && Stats().cluster().following() == 1; });
  absl::SleepFor(2 * absl::Seconds(config.cluster_lease_seconds));
  EXPECT_EQ(RunningAtTheTaker(), 1u);  // As long as somebody waits.
  context.TryCancel();
  caller.join();
  Await([&] { return RunningAtTheTaker() == 0; });
  EXPECT_EQ(AtTheTaker().started, 1u);
}

TEST_F(TakenJobTest, ALaterDeadlineReachesTheTaker) {
  v1::CompileRequest request = Request("deadline");
  SetOption(&request, "wait_for_file", Path("go"));
  std::thread first([&] {
    v1::CompileResponse response;
    EXPECT_EQ(Compile(request, &response, absl::Seconds(3)).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  });
  Await([&] { return RunningAtTheTaker() == 1; });
  std::thread second([&] { CompileOk(*compile, request); });
  first.join();
  absl::SleepFor(absl::Seconds(2));  // A taker that knew only the first deadline would end the job meanwhile.
  Touch("go");
  second.join();
  EXPECT_EQ(AtTheTaker().started, 1u);
}

TEST_F(ClusterTest, AJobGoesOnForOtherDaemonsCallersWhenItsOwnHaveLeft) {
  config.cluster_lease_seconds = 1;
  Start();
  StartOther();
  v1::CompileRequest request = Request("followed");
  SetOption(&request, "wait_for_file", Path("go"));
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::CompileResponse response;
    EXPECT_EQ(compile->Compile(&context, request, &response).error_code(), grpc::StatusCode::CANCELLED);
  });
  const auto here = [&] { return daemon().broker().scheduler().GetStats(); };
  Await([&] { return here().classes[0].running == 1; });
  std::thread follower([&] { EXPECT_EQ(CompileOk(*other_compile, request).cache(), v1::CACHE_STATUS_JOINED); });
  Await([&] { return other->broker().cluster()->flight_stats().following == 1; });
  absl::SleepFor(absl::Seconds(config.cluster_lease_seconds) / 2);  // It is told as the lease is renewed.
  context.TryCancel();
  caller.join();
  absl::SleepFor(absl::Seconds(1));  // Without the other daemon's caller it would end meanwhile.
  EXPECT_EQ(here().classes[0].running, 1u);
  Touch("go");
  follower.join();
  EXPECT_EQ(here().started, 1u);
  EXPECT_EQ(other->broker().scheduler().GetStats().started, 0u);
}

}  // namespace
}  // namespace tritond::tests
