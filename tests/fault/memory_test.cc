// SPDX-License-Identifier: Apache-2.0
// Large kernels from more callers than there is room for, many of them for the same kernel, while nothing gets done.
// Meanwhile jobs are submitted by the dozen. The daemon's memory stays within its budget, and all that it took ends
// well.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cc/retry.h"
#include "client/cc/status.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/sanitizer.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBudgetMb = 32;
// Besides the budget: the daemon itself, its caches, gRPC's and the disk's buffers for what comes and goes.
constexpr uint64_t kRestBytes = 320 * kMiB;
// One machine's requests that wait to be read: an eighth of --max-incoming-mb.
constexpr uint64_t kTextBytes = 128 * kMiB;
constexpr uint64_t kIncomingMb = 64;
constexpr int kHalfSent = 40;
constexpr int kSubmits = 64;
constexpr int kCallers = 48;
constexpr int kJoiners = 32;

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() : daemon({"--max-queued-mb", absl::StrCat(kBudgetMb), "--max-ir-bytes", absl::StrCat(8 * kMiB)}) {
    daemon.workers = 1;
    daemon.memory_cache_mb = 16;
  }

  // Of 1 to 4 MiB; compiled once the file "go" is there.
  v1::CompileRequest Large(uint64_t number) {
    v1::CompileRequest request = NumberedRequest(number);
    request.mutable_ir()->append(std::string((1 + number % 4) * kMiB, 'x'));
    (*request.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(daemon.folder() + "/go");
    return request;
  }
  void Call(const v1::CompileRequest& request) {
    callers.emplace_back([this, request] {
      Stubs stubs(daemon.address());
      v1::CompileResponse response;
      const grpc::Status status = Compile(stubs, request, &response, WithinReason(absl::Seconds(120)));
      if (status.ok()) {
        ++answered;
      } else if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
        ++refused;
      } else {
        ++others;
        std::cerr << "unexpected: " << status.error_message() << "\n";
      }
    });
  }
  void Submit(int number) {
    Stubs stubs(daemon.address());
    v1::SubmitRequest submit;
    *submit.mutable_request() = Large(number);
    for (int i = 0; i < 100; ++i) {
      grpc::ClientContext context;
      v1::Job job;
      const grpc::Status status = stubs.compile->Submit(&context, submit, &job);
      if (status.ok()) return jobs.push_back(job.id());
      ASSERT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
      absl::SleepFor(absl::Milliseconds(50));
    }
    FAIL() << "no room for job " << number;
  }
  bool Succeeded(const std::string& id) {
    Stubs stubs(daemon.address());
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_id(id);
    v1::Job job;
    return stubs.compile->GetJob(&context, request, &job).ok() && job.state() == v1::JOB_STATE_SUCCEEDED;
  }

  DaemonProcess daemon;
  std::vector<std::thread> callers;
  std::vector<std::string> jobs;
  std::atomic<int> answered{0}, refused{0}, others{0};
};

TEST_F(MemoryTest, LargeKernelsStayWithinTheBudget) {
  ASSERT_TRUE(daemon.Start());
  std::atomic<bool> stop{false};
  uint64_t most = 0;
  std::thread watch([&] {
    while (!stop) {
      most = std::max(most, ResidentBytesOf(daemon.pid()));
      absl::SleepFor(absl::Milliseconds(20));
    }
  });
  for (int i = 0; i < kSubmits; ++i) Submit(i);
  for (int i = 0; i < kJoiners; ++i) Call(Large(999));
  for (int i = 0; i < kCallers; ++i) Call(Large(1000 + i));
  EXPECT_TRUE(Await([&] { return refused > 0; }));
  absl::SleepFor(TestTime(absl::Seconds(2)));  // The sampler sees the memory of all that wait.
  std::ofstream(daemon.folder() + "/go").flush();
  for (std::thread& caller : callers) caller.join();
  for (const std::string& id : jobs) {
    EXPECT_TRUE(Await([&] { return Succeeded(id); })) << id << "\n" << daemon.Log();
  }
  stop = true;
  watch.join();
  std::cout << answered << " answered, " << refused << " refused, " << jobs.size() << " submitted, resident at most "
            << (most >> 20) << " MiB\n";
  EXPECT_EQ(others, 0);
  EXPECT_GT(answered, 0);
  EXPECT_GT(refused, 0);
  // A sanitizer's own memory is not looked at.
  if (!kSanitized) {
    EXPECT_LT(most, kBudgetMb * kMiB + kTextBytes + kRestBytes);
  }
}

// Callers that send most of a message and then nothing more, which costs memory before anybody knows who they are.
TEST(HalfAMessage, FromManyCallersTakesTheMemoryThatIsSetAsideForIt) {
  DaemonProcess daemon({"--max-ir-bytes", absl::StrCat(8 * kMiB), "--max-message-mb", "8", "--max-incoming-mb",
                        absl::StrCat(kIncomingMb)});
  daemon.memory_cache_mb = 16;
  ASSERT_TRUE(daemon.Start());
  const uint64_t before = ResidentBytesOf(daemon.pid());
  uint64_t most = 0;
  {
    TcpProxy proxy(daemon.port());
    proxy.LimitToTarget(7 * kMiB);
    std::vector<std::thread> callers;
    std::atomic<int> unfinished{0}, cut_off{0};
    for (int i = 0; i < kHalfSent; ++i) {
      callers.emplace_back([&, i] {
        Stubs stubs(absl::StrCat("127.0.0.1:", proxy.port()));
        v1::CompileRequest request = NumberedRequest(i);
        request.mutable_ir()->append(std::string(8 * kMiB - 4096, 'x'));
        v1::CompileResponse response;
        const grpc::Status status = Compile(stubs, request, &response, WithinReason(absl::Seconds(6)));
        unfinished += !status.ok();
        cut_off += client::DroppedByServer(client::FromGrpc(status));
      });
    }
    for (int i = 0; i < 60; ++i) {
      most = std::max(most, ResidentBytesOf(daemon.pid()));
      absl::SleepFor(absl::Milliseconds(50));
    }
    // Others are served beside them.
    Stubs stubs(daemon.address());
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, NumberedRequest(7), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(unfinished, kHalfSent);
    EXPECT_GT(cut_off, 0);
  }
  std::cout << "resident " << (before >> 20) << " MiB, then at most " << (most >> 20) << " MiB\n";
  if (!kSanitized) {
    EXPECT_LT(most, before + (kIncomingMb + 64) * kMiB);
  }
}

}  // namespace
}  // namespace tritond::tests
