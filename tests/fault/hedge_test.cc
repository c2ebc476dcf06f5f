// SPDX-License-Identifier: Apache-2.0
// A compile that is stuck on one worker is begun on another, and the first outcome counts.
#include <gtest/gtest.h>
#include <httplib.h>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/program.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

std::string MetricsOf(const DaemonProcess& daemon) {
  httplib::Client http("127.0.0.1", daemon.http_port);
  const auto response = http.Get("/metrics");
  return response ? response->body : "";
}

v1::CompileRequest StickyRequest(const DaemonProcess& daemon) {
  v1::CompileRequest request = NumberedRequest(2);
  (*request.mutable_options()->mutable_fields())["first_sticks"].set_string_value(daemon.folder() + "/stuck");
  return request;
}

int IdleWorkers(const DaemonProcess& daemon) {
  const v1::ListWorkersResponse list = daemon.Workers();
  int idle = 0;
  for (const v1::Worker& worker : list.workers()) idle += worker.state() == v1::Worker::STATE_IDLE;
  return idle;
}

TEST(Hedge, AStuckCompileIsAnsweredByAnotherWorker) {
  DaemonProcess daemon({"--hedge-after-seconds", "1"});
  daemon.workers = 3;  // One is stuck, one is the hedge, and one is left for everybody else.
  daemon.http_port = FreePort();
  ASSERT_TRUE(daemon.Start());
  ASSERT_TRUE(Await([&] { return IdleWorkers(daemon) == 3; }));
  Stubs stubs(daemon.address());
  v1::CompileResponse usual, response;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(1), &usual).ok());  // Says how long compiles take.
  EXPECT_TRUE(absl::StrContains(MetricsOf(daemon), "\ntritond_hedged_total 0\n"));

  const v1::CompileRequest request = StickyRequest(daemon);
  const absl::Time begun = absl::Now();
  const grpc::Status status = Compile(stubs, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(WrongWith(request, response), "");
  EXPECT_GE(absl::Now() - begun, absl::Seconds(1));
  EXPECT_LE(absl::Now() - begun, WithinReason(absl::Seconds(5)));
  EXPECT_EQ(daemon.Stats().compiles(), 3u);
  EXPECT_TRUE(absl::StrContains(MetricsOf(daemon), "\ntritond_hedged_total 1\n"));
  // The stuck one is replaced, which is nobody's loss.
  EXPECT_TRUE(Await([&] { return IdleWorkers(daemon) == 3; }));
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST(Hedge, TheLastWorkerIsLeftForOthers) {
  DaemonProcess daemon({"--hedge-after-seconds", "1"});
  ASSERT_TRUE(daemon.Start());
  ASSERT_TRUE(Await([&] { return IdleWorkers(daemon) == 2; }));
  Stubs stubs(daemon.address());
  v1::CompileResponse usual, response, other;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(1), &usual).ok());
  EXPECT_EQ(Compile(stubs, StickyRequest(daemon), &response, absl::Seconds(4)).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(daemon.Stats().hedged(), 0u);
  EXPECT_TRUE(Compile(stubs, NumberedRequest(3), &other).ok());
}

TEST(Hedge, WithoutItAStuckCompileIsNotAnswered) {
  DaemonProcess daemon({"--hedge-after-seconds", "0"});
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  v1::CompileResponse usual, response;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(1), &usual).ok());
  EXPECT_EQ(Compile(stubs, StickyRequest(daemon), &response, absl::Seconds(4)).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(daemon.Stats().compiles(), 2u);
}

}  // namespace
}  // namespace tritond::tests
