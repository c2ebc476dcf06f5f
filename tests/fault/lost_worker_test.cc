// SPDX-License-Identifier: Apache-2.0
// A worker that is gone, whatever way, costs its job five seconds at most.
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/sanitizer.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

const absl::Duration kNoticed = WithinReason(absl::Seconds(5));

TEST(LostWorker, WithACutCableIsNoticedAndItsJobRunsElsewhere) {
  DaemonProcess daemon;
  daemon.workers = 0;
  ASSERT_TRUE(daemon.Start());
  TcpProxy cable(daemon.port());
  auto far = RemoteWorker(cable.port(), "far");
  ASSERT_TRUE(Await([&] { return Attached(daemon, "far"); }));
  StuckCompile compile(daemon, daemon.folder() + "/go");
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  auto near = RemoteWorker(daemon.port(), "near");
  ASSERT_TRUE(Await([&] { return Attached(daemon, "near"); }));

  cable.Stall();
  const absl::Time cut = absl::Now();
  ASSERT_TRUE(Await([&] { return daemon.Stats().compiles() == 2; }));
  EXPECT_LE(absl::Now() - cut, kNoticed);
  EXPECT_FALSE(Attached(daemon, "far"));
  compile.LetGo();
  compile.ExpectAnswer();
  EXPECT_EQ(compile.response().result().worker(), "near");

  // What the far one says about its old lease is ignored, and it comes back.
  cable.Resume();
  ASSERT_TRUE(Await([&] { return Attached(daemon, "far"); }));
  EXPECT_EQ(daemon.Stats().compiles(), 2u);
}

TEST(LostWorker, ThatIsStoppedOverTcpIsNoticedAndMayGoOnLater) {
  DaemonProcess daemon;
  daemon.workers = 0;
  ASSERT_TRUE(daemon.Start());
  auto stopped = RemoteWorker(daemon.port(), "stopped", {"--once"});
  ASSERT_TRUE(Await([&] { return Attached(daemon, "stopped"); }));
  StuckCompile compile(daemon, daemon.folder() + "/go");
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  auto other = RemoteWorker(daemon.port(), "other");
  ASSERT_TRUE(Await([&] { return Attached(daemon, "other"); }));

  stopped->Signal(SIGSTOP);
  const absl::Time at = absl::Now();
  ASSERT_TRUE(Await([&] { return daemon.Stats().compiles() == 2; }));
  EXPECT_LE(absl::Now() - at, kNoticed);
  compile.LetGo();
  compile.ExpectAnswer();
  EXPECT_EQ(compile.response().result().worker(), "other");
  // It wakes up with a finished compile under a lease that is another's now; its stream is over.
  stopped->Signal(SIGCONT);
  EXPECT_NE(stopped->Wait(), 0);
  EXPECT_EQ(daemon.Stats().workers_lost(), 1u);
}

TEST(LostWorker, ThatIsAStoppedChildIsKilledAndReplaced) {
  DaemonProcess daemon;
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  const pid_t stopped = daemon.WorkerPids().at(0);
  StuckCompile compile(daemon, daemon.folder() + "/go");
  ASSERT_TRUE(Await([&] { return Running(daemon); }));
  kill(stopped, SIGSTOP);
  const absl::Time at = absl::Now();
  ASSERT_TRUE(Await([&] { return daemon.Stats().compiles() == 2; }));
  EXPECT_LE(absl::Now() - at, kNoticed);
  EXPECT_EQ(ResidentBytesOf(stopped), 0u);
  compile.LetGo();
  compile.ExpectAnswer();
}

TEST(LostWorker, AFreshChildReplacesAWornOutOneAndNoJobIsLost) {
  DaemonProcess daemon({"--worker-arguments", "--recycle-jobs", "--worker-arguments", "3"});
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  const pid_t first = daemon.WorkerPids().at(0);
  for (uint64_t i = 0; i < 10; ++i) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, NumberedRequest(i), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(WrongWith(NumberedRequest(i), response), "");
  }
  EXPECT_TRUE(Await([&] { return daemon.Workers().workers(0).deaths() >= 2; })) << daemon.Log();
  EXPECT_EQ(ResidentBytesOf(first), 0u);
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST(LostWorker, ADaemonThatIsSilentIsLeftByItsWorkers) {
  DaemonProcess daemon;
  daemon.workers = 0;
  ASSERT_TRUE(daemon.Start());
  TcpProxy cable(daemon.port());
  auto worker = RemoteWorker(cable.port(), "far", {"--once"});
  ASSERT_TRUE(Await([&] { return Attached(daemon, "far"); }));
  cable.Stall();
  const absl::Time cut = absl::Now();
  EXPECT_NE(worker->Wait(), 0);
  EXPECT_LE(absl::Now() - cut, absl::Seconds(15));
}

}  // namespace
}  // namespace tritond::tests
