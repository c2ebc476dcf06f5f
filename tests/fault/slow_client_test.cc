// SPDX-License-Identifier: Apache-2.0
// Callers that stop reading hold little memory, for a short time, and nobody else up.
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/sanitizer.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

constexpr size_t kArtifactBytes = 32 << 20;
constexpr int kCallers = 40;

TEST(SlowClient, HoldsNeitherMemoryNorOthersUp) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  v1::CompileResponse stored;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(1, kArtifactBytes), &stored, WithinReason(absl::Seconds(30))).ok());
  v1::CompileResponse small;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(2, 1 << 20), &small).ok());
  v1::FetchRequest fetch;
  fetch.set_digest(stored.result().artifacts(0).digest());
  const uint64_t before = ResidentBytesOf(daemon.pid());

  // Each asks for a large artifact and for many answers, and then reads nothing of them.
  TcpProxy proxy(daemon.port());
  proxy.StallToCaller();
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      Stubs slow(absl::StrCat("127.0.0.1:", proxy.port()));
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(8)));
      auto stream = slow.artifacts->Fetch(&context, fetch);
      v1::FetchResponse chunk;
      while (stream->Read(&chunk)) {
      }
      EXPECT_FALSE(stream->Finish().ok());
    });
    callers.emplace_back([&] {
      Stubs slow(absl::StrCat("127.0.0.1:", proxy.port()));
      v1::CompileResponse response;
      EXPECT_FALSE(Compile(slow, NumberedRequest(2, 1 << 20), &response, absl::Seconds(8)).ok());
    });
  }
  uint64_t most = 0;
  absl::Duration slowest;
  for (const absl::Time end = absl::Now() + absl::Seconds(6); absl::Now() < end;) {
    const absl::Time asked = absl::Now();
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, NumberedRequest(2, 1 << 20), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    slowest = std::max(slowest, absl::Now() - asked);
    most = std::max(most, ResidentBytesOf(daemon.pid()));
    absl::SleepFor(absl::Milliseconds(5));
  }
  for (std::thread& caller : callers) caller.join();
  std::cout << "resident " << (before >> 20) << " MiB before, " << (most >> 20) << " MiB at most, slowest hit beside "
            << slowest << "\n";
  // The artifact itself may lie in memory a few times; not once a caller.
  EXPECT_LT(most, before + kCallers * kArtifactBytes / 4);
  EXPECT_LT(slowest, WithinReason(absl::Seconds(2)));
}

TEST(SlowClient, ThatIsGoneWithoutAWordIsLetGo) {
  DaemonProcess daemon;
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  TcpProxy proxy(daemon.port());
  // Calls through a connection that dies; their compile is nobody's then, and its worker is free for others.
  v1::CompileRequest request = NumberedRequest(1);
  (*request.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(daemon.folder() + "/never");
  std::thread caller([&] {
    Stubs gone(absl::StrCat("127.0.0.1:", proxy.port()));
    v1::CompileResponse response;
    EXPECT_FALSE(Compile(gone, request, &response, absl::Seconds(40)).ok());
  });
  ASSERT_TRUE(Await([&] {
    const v1::GetStatsResponse stats = daemon.Stats();
    return stats.queues_size() > 0 && stats.queues(0).running() == 1;
  }));
  proxy.Stall();
  const absl::Time cut = absl::Now();
  Stubs stubs(daemon.address());
  v1::CompileResponse response;
  const grpc::Status status = Compile(stubs, NumberedRequest(2), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_LT(absl::Now() - cut, absl::Seconds(25));
  proxy.Resume();
  caller.join();
}

}  // namespace
}  // namespace tritond::tests
