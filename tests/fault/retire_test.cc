// SPDX-License-Identifier: Apache-2.0
// A worker that is told to end, or has done its share, ends by agreement with its daemon: nothing is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

int ExitStatus(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

class Retire : public testing::Test {
 protected:
  void SetUp() override {
    daemon.workers = 0;
    ASSERT_TRUE(daemon.Start());
  }
  std::unique_ptr<Program> Worker(const std::string& name, const std::vector<std::string>& more = {}) {
    auto worker = RemoteWorker(daemon.port(), name, more);
    EXPECT_TRUE(Await([&] {
      // One without a supervisor tries once, and may be too slow on a machine that has much else to do.
      if (worker->Ended()) worker = RemoteWorker(daemon.port(), name, more);
      return Attached(daemon, name);
    }));
    return worker;
  }
  std::string File() const { return daemon.folder() + "/go"; }

  // A worker that is told to end while it compiles; `tell` does.
  void ExpectThatItFinishes(Program* worker, const std::function<void()>& tell) {
    StuckCompile compile(daemon, File());
    ASSERT_TRUE(Await([&] { return Running(daemon); }));
    tell();
    ASSERT_TRUE(Await([&] { return StateOf(daemon, "old") == v1::Worker::STATE_DRAINING; }));
    // Another compile goes elsewhere.
    v1::CompileResponse other;
    auto fresh = Worker("new");
    Stubs stubs(daemon.address());
    EXPECT_TRUE(Compile(stubs, NumberedRequest(2), &other).ok());
    EXPECT_EQ(other.result().worker(), "new");
    EXPECT_FALSE(worker->Ended());

    compile.LetGo();
    compile.ExpectAnswer();
    EXPECT_EQ(compile.response().result().worker(), "old");
    EXPECT_EQ(ExitStatus(worker->Wait()), 0);
    EXPECT_TRUE(Await([&] { return !Attached(daemon, "old"); }));
    EXPECT_EQ(daemon.Stats().compiles(), 2u);  // one attempt each
    EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
  }

  DaemonProcess daemon;
};

TEST_F(Retire, AWorkerThatIsToldToEndFinishesItsCompileFirst) {
  auto worker = Worker("old");
  ExpectThatItFinishes(worker.get(), [&] { worker->Signal(SIGTERM); });
}

TEST_F(Retire, SoDoesOneWithoutASupervisor) {
  auto worker = Worker("old", {"--once"});
  ExpectThatItFinishes(worker.get(), [&] { worker->Signal(SIGINT); });
}

TEST_F(Retire, AServiceManagerMayTellTheSupervisorAndItsChildBoth) {
  auto worker = Worker("old");
  const pid_t child = ChildrenOf(worker->pid()).at(0);
  ExpectThatItFinishes(worker.get(), [&] {
    kill(child, SIGTERM);
    worker->Signal(SIGTERM);
  });
}

TEST_F(Retire, AWorkerWhoseSupervisorIsKilledFinishesItsCompileAndGoes) {
  auto worker = Worker("old");
  const pid_t child = ChildrenOf(worker->pid()).at(0);
  StuckCompile compile(daemon, File());
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  worker->Kill();
  EXPECT_TRUE(Await([&] { return StateOf(daemon, "old") == v1::Worker::STATE_DRAINING; }));
  compile.LetGo();
  compile.ExpectAnswer();
  EXPECT_EQ(compile.response().result().worker(), "old");
  EXPECT_TRUE(Await([&] { return !Attached(daemon, "old") && ResidentBytesOf(child) == 0; }));
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST_F(Retire, ASecondSignalEndsItAtOnce) {
  auto worker = Worker("old");
  StuckCompile compile(daemon, File());
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  worker->Signal(SIGTERM);
  ASSERT_TRUE(Await([&] { return StateOf(daemon, "old") == v1::Worker::STATE_DRAINING; }));
  worker->Signal(SIGTERM);
  EXPECT_NE(worker->Wait(), 0);
  EXPECT_TRUE(Await([&] { return daemon.Stats().workers_lost() == 1; }));
  auto fresh = Worker("new");
  compile.LetGo();
  compile.ExpectAnswer();
  EXPECT_EQ(compile.response().result().worker(), "new");
}

TEST_F(Retire, AnIdleWorkerEndsAtOnceAndInOrder) {
  auto worker = Worker("old");
  const absl::Time told = absl::Now();
  worker->Signal(SIGTERM);
  EXPECT_EQ(ExitStatus(worker->Wait()), 0);
  EXPECT_LT(absl::Now() - told, WithinReason(absl::Seconds(1)));
  EXPECT_TRUE(Await([&] { return !Attached(daemon, "old"); }));
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST_F(Retire, AWorkerThatCannotReachItsDaemonEndsToo) {
  const int nobody = FreePort();
  auto worker = RemoteWorker(nobody, "lonely");
  absl::SleepFor(absl::Milliseconds(300));  // It is between two attempts, most likely.
  worker->Signal(SIGTERM);
  EXPECT_EQ(ExitStatus(worker->Wait()), 0);
}

// Twenty compiles at once for one worker. Each begins once.
void ExpectNoLoss(const DaemonProcess& daemon) {
  std::vector<std::thread> callers;
  for (uint64_t i = 0; i < 20; ++i) {
    callers.emplace_back([&daemon, i] {
      Stubs stubs(daemon.address());
      v1::CompileResponse response;
      const v1::CompileRequest request = NumberedRequest(i, /*binary_bytes=*/0, /*sleep_ms=*/5);
      const grpc::Status status = Compile(stubs, request, &response, WithinReason(absl::Seconds(60)));
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(WrongWith(request, response), "");
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(daemon.Stats().compiles(), 20u);
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST_F(Retire, AWornOutWorkerMakesRoomForAFreshOneAndLosesNothing) {
  auto worker = Worker("worn", {"--recycle-jobs", "2"});
  const pid_t first = ChildrenOf(worker->pid()).at(0);
  ExpectNoLoss(daemon);
  EXPECT_EQ(ResidentBytesOf(first), 0u);
}

TEST(RetireOfAChild, ThatIsWornOutLosesNothing) {
  DaemonProcess daemon({"--worker-arguments", "--recycle-jobs", "--worker-arguments", "2"});
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  ExpectNoLoss(daemon);
}

TEST_F(Retire, AWorkerThatHasGrownTooLargeMakesRoomToo) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is another";
  auto worker = Worker("grown", {"--recycle-mb", "300"});
  const pid_t first = ChildrenOf(worker->pid()).at(0);
  Stubs stubs(daemon.address());
  v1::CompileResponse response;
  for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(Compile(stubs, NumberedRequest(i), &response).ok());
  EXPECT_EQ(ChildrenOf(worker->pid()).at(0), first);
  v1::CompileRequest leaky = NumberedRequest(3);
  (*leaky.mutable_options()->mutable_fields())["leak_mb"].set_number_value(400);
  EXPECT_TRUE(Compile(stubs, leaky, &response).ok());
  EXPECT_TRUE(Compile(stubs, NumberedRequest(4), &response).ok());
  EXPECT_EQ(ResidentBytesOf(first), 0u);
  EXPECT_EQ(daemon.Stats().compiles(), 5u);
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST(RetireOfAChild, ThatIsToldToEndIsNoLoss) {
  DaemonProcess daemon;
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  const pid_t child = daemon.WorkerPids().at(0);
  StuckCompile compile(daemon, daemon.folder() + "/go");
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  kill(child, SIGTERM);
  ASSERT_TRUE(Await([&] { return daemon.Workers().workers(0).state() == v1::Worker::STATE_DRAINING; }));
  compile.LetGo();
  compile.ExpectAnswer();
  ASSERT_TRUE(Await([&] { return daemon.Workers().workers(0).deaths() == 1; }));
  EXPECT_EQ(daemon.Stats().compiles(), 1u);
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST(RetireOfAChild, DoesNotHoldUpADaemonThatGivesItsCompileUp) {
  DaemonProcess daemon({"--drain-grace-seconds", "1"});
  daemon.workers = 2;
  ASSERT_TRUE(daemon.Start());
  StuckCompile compile(daemon, daemon.folder() + "/go");
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  const absl::Time told = absl::Now();
  EXPECT_EQ(daemon.Terminate(), 0);
  // The grace, and half a second in which callers hear of it; not the two that a child would be waited for.
  EXPECT_LT(absl::Now() - told, WithinReason(absl::Milliseconds(2500)));
  EXPECT_FALSE(compile.Join().ok());
}

}  // namespace
}  // namespace tritond::tests
