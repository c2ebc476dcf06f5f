// SPDX-License-Identifier: Apache-2.0
// A worker that is gone, whatever way, costs its job five seconds at most.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/sanitizer.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

const absl::Duration kNoticed = WithinReason(absl::Seconds(5));

std::unique_ptr<Program> RemoteWorker(int port, const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{TRITOND_FAKE_WORKER, "--server", absl::StrCat("127.0.0.1:", port), "--name", name};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Program>(words);
}

bool Attached(const DaemonProcess& daemon, const std::string& name) {
  const v1::ListWorkersResponse list = daemon.Workers();
  for (const v1::Worker& worker : list.workers()) {
    if (worker.name() == name) return true;
  }
  return false;
}

// A compile whose first worker gets stuck: it waits for a file, which another attempt finds there.
class StuckCompile {
 public:
  StuckCompile(DaemonProcess& daemon, const std::string& file) : daemon_(daemon), file_(file) {
    request_ = NumberedRequest(1);
    (*request_.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(file);
    thread_ = std::thread([this] {
      Stubs stubs(daemon_.address());
      status_ = Compile(stubs, request_, &response_);
    });
  }
  void LetGo() { std::ofstream file(file_); }
  void ExpectAnswer() {
    thread_.join();
    EXPECT_TRUE(status_.ok()) << status_.error_message();
    EXPECT_EQ(WrongWith(request_, response_), "");
  }
  const v1::CompileResponse& response() const { return response_; }

 private:
  DaemonProcess& daemon_;
  const std::string file_;
  v1::CompileRequest request_;
  v1::CompileResponse response_;
  grpc::Status status_;
  std::thread thread_;
};

bool Running(const DaemonProcess& daemon) {
  const v1::GetStatsResponse stats = daemon.Stats();
  return stats.queues_size() > 0 && stats.queues(0).running() == 1;
}

TEST(LostWorker, BehindACutCableIsNoticedAndItsJobRunsElsewhere) {
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

TEST(LostWorker, ThatIsStoppedBehindTcpIsNoticedAndMayGoOnLater) {
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

TEST(LostWorker, OfAWornOutChildAFreshOneTakesThePlaceAndNoJobIsLost) {
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
