// SPDX-License-Identifier: Apache-2.0
// Whatever a compile does to its worker costs its own caller an error, and nobody else anything.
#include <gmock/gmock.h>
#include <signal.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class FaultsTest : public DaemonTest {
 protected:
  v1::CompileRequest Faulty(const std::string& fault) {
    v1::CompileRequest request = Request("module {} " + fault);
    SetOption(&request, "fault", fault);
    return request;
  }
  void ExpectHealthy() {
    static int serial = 0;
    v1::CompileResponse response;
    const grpc::Status status = Compile(Request(absl::StrCat("module {} healthy ", ++serial)), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  // Compiles what kills its workers; expects quarantine with a report of this text.
  void ExpectQuarantined(const std::string& fault, const std::string& report) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(Faulty(fault), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << status.error_message();
    EXPECT_EQ(ReasonOf(status), "QUARANTINED");
    auto crash = DetailOf<v1::CrashReport>(status);
    ASSERT_NE(crash, nullptr);
    EXPECT_TRUE(crash->quarantined());
    ASSERT_EQ(crash->reports_size(), 2);
    EXPECT_THAT(crash->reports(0), HasSubstr(report));
    EXPECT_THAT(crash->reports(0), HasSubstr("injected fault"));
    const uint64_t before = Stats().compiles();
    EXPECT_EQ(Compile(Faulty(fault), &response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(Stats().compiles(), before);  // Answered without another victim.
    ExpectHealthy();
  }
};

TEST_F(FaultsTest, AnAbortIsQuarantinedWithItsReport) {
  Start();
  ExpectQuarantined("abort", "signal 6");
}

TEST_F(FaultsTest, AnExitIsQuarantinedWithItsReport) {
  Start();
  ExpectQuarantined("exit", "exit status 3");
}

TEST_F(FaultsTest, EatingMemoryIsQuarantinedWithItsReport) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's addresses cannot be limited";
  config.worker_memory_mb = 1024;
  Start();
  ExpectQuarantined("eat_memory", "out of memory");
}

TEST_F(FaultsTest, ALoopIsStoppedAtTheTimeLimit) {
  config.job_time_limit_seconds = 0.5;
  Start();
  v1::CompileResponse response;
  const grpc::Status status = Compile(Faulty("loop"), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(ReasonOf(status), "TIME_LIMIT");
  EXPECT_THAT(status.error_message(), HasSubstr("500ms"));
  ExpectHealthy();
}

TEST_F(FaultsTest, OthersCompileWhileOneCrashes) {
  Start();
  v1::CompileRequest patient = Request("patient");
  SetOption(&patient, "wait_for_file", Path("go"));
  std::thread other([&] {
    v1::CompileResponse response;
    EXPECT_TRUE(Compile(patient, &response).ok());
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  v1::CompileResponse response;
  EXPECT_FALSE(Compile(Faulty("abort"), &response).ok());
  Touch("go");
  other.join();
  EXPECT_EQ(Stats().failures(), 1u);
}

TEST_F(FaultsTest, AKilledWorkersJobRunsOnAnother) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "wait_for_file", Path("go"));
  std::thread caller([&] {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  });
  Await([&] { return Stats().queues(0).running() == 1; });
  pid_t busy = 0;
  const v1::ListWorkersResponse workers = Workers();
  for (const v1::Worker& worker : workers.workers()) {
    if (worker.running_size() > 0) busy = static_cast<pid_t>(worker.pid());
  }
  ASSERT_NE(busy, 0);
  const absl::Time killed = absl::Now();
  kill(busy, SIGKILL);
  Await([&] { return Stats().compiles() == 2; });
  EXPECT_LT(absl::Now() - killed, WithinReason(absl::Seconds(5)));
  Touch("go");
  caller.join();
}

TEST_F(FaultsTest, AFrozenWorkerIsNoticedAndReplaced) {
  config.workers = 1;
  config.heartbeat_seconds = 0.2;
  Start();
  const pid_t frozen = static_cast<pid_t>(Workers().workers(0).pid());
  kill(frozen, SIGSTOP);
  Await([&] {
    const v1::ListWorkersResponse workers = Workers();
    return workers.workers(0).targets_size() > 0 && workers.workers(0).pid() != frozen;
  });
  ExpectHealthy();
}

TEST_F(FaultsTest, AWorkerThatCompilesForLongIsNotTakenForAFrozenOne) {
  config.workers = 1;
  config.heartbeat_seconds = 0.2;
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "sleep_ms", 2000);  // Three times as long as a worker may be silent.
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(request, &response).ok());
  EXPECT_EQ(Stats().compiles(), 1u);
  EXPECT_EQ(Stats().workers_lost(), 0u);
}

TEST_F(FaultsTest, TheQuarantineCanBeListedAndOpened) {
  Start();
  v1::CompileResponse response;
  Compile(Faulty("abort"), &response);
  v1::ListQuarantineResponse list;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(admin->ListQuarantine(&context, {}, &list).ok());
    ASSERT_EQ(list.entries_size(), 1);
    EXPECT_EQ(list.entries(0).reports_size(), 2);
  }
  v1::ReleaseRequest release;
  release.set_key(list.entries(0).key());
  v1::ReleaseResponse released;
  {
    grpc::ClientContext context;
    EXPECT_TRUE(admin->Release(&context, release, &released).ok());
  }
  grpc::ClientContext context;
  EXPECT_EQ(admin->Release(&context, release, &released).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(FaultsTest, CallersOfAKernelThatIsQuarantinedByHandReadTheReasonAndOfNoDeaths) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request(), &response).ok());
  v1::QuarantineRequest lock;
  lock.set_key(response.key());
  lock.set_reason("wrong results, ask the kernel team");
  v1::QuarantineResponse locked;
  grpc::ClientContext context, list_context;
  ASSERT_TRUE(admin->Quarantine(&context, lock, &locked).ok());
  v1::CompileRequest again = Request();
  again.set_cache_mode(v1::CACHE_MODE_REFRESH);
  const grpc::Status status = Compile(again, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "this kernel is quarantined by hand: wrong results, ask the kernel team");
  EXPECT_EQ(ReasonOf(status), "QUARANTINED");
  EXPECT_EQ(DetailOf<v1::CrashReport>(status), nullptr);
  v1::ListQuarantineResponse list;
  ASSERT_TRUE(admin->ListQuarantine(&list_context, {}, &list).ok());
  ASSERT_EQ(list.entries_size(), 1);
  EXPECT_THAT(list.entries(0).reports(), testing::ElementsAre("by hand: wrong results, ask the kernel team"));
}

}  // namespace
}  // namespace tritond::tests
