// SPDX-License-Identifier: Apache-2.0
// Three daemons as processes of their own, and an engine of three nodes. Identical requests are compiled once in the
// whole cluster, whatever happens to a daemon or to the engine.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/sanitizer.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

constexpr int kDaemons = 3;
constexpr int kCallers = 1000;

struct Call {
  grpc::ClientContext context;
  v1::CompileRequest request;
  v1::CompileResponse response;
  grpc::Status status;
  absl::Notification done;
};

// Calls that are under way at once.
class Burst final {
 public:
  ~Burst() { Wait(); }
  void Add(Stubs& at, const v1::CompileRequest& request) {
    Call& call = *calls_.emplace_back(std::make_unique<Call>());
    call.context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    call.request = request;
    at.compile->async()->Compile(&call.context, &call.request, &call.response, [&call](grpc::Status status) {
      call.status = std::move(status);
      call.done.Notify();
    });
  }
  void Wait() {
    for (const auto& call : calls_) call->done.WaitForNotification();
  }
  // How many of the calls that have ended ended so.
  int Count(grpc::StatusCode code) const {
    return static_cast<int>(std::count_if(calls_.begin(), calls_.end(), [&](const std::unique_ptr<Call>& call) {
      return call->done.HasBeenNotified() && call->status.error_code() == code;
    }));
  }
  const std::vector<std::unique_ptr<Call>>& calls() const { return calls_; }

 private:
  std::vector<std::unique_ptr<Call>> calls_;
};

class ClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    nodes = &RedisNodes::Shared();
    ASSERT_TRUE(nodes->ok());
  }
  // `workers` of each daemon.
  void StartDaemons(const std::vector<int>& workers) {
    std::vector<std::string> options = {"--cluster-lease-seconds", "1"};
    for (const std::string& address : nodes->addresses()) {
      options.push_back("--cluster");
      options.push_back(address);
    }
    for (const int count : workers) {
      daemons.push_back(std::make_unique<DaemonProcess>(options));
      daemons.back()->workers = count;
      ASSERT_TRUE(daemons.back()->Start());
      // The first one has made a key, and all sign with it.
      if (daemons.size() == 1)
        options.insert(options.end(), {"--signing-key", daemons[0]->data_dir() + "/signing.key"});
      stubs.push_back(std::make_unique<Stubs>(daemons.back()->address()));
    }
  }
  std::vector<uint64_t> Compiles() const {
    std::vector<uint64_t> compiles;
    for (const auto& daemon : daemons) compiles.push_back(daemon->Stats().compiles());
    return compiles;
  }
  static uint64_t Sum(const std::vector<uint64_t>& numbers) {
    uint64_t sum = 0;
    for (const uint64_t number : numbers) sum += number;
    return sum;
  }
  // A request whose compile waits until Touch.
  v1::CompileRequest WaitingRequest(uint64_t number) {
    v1::CompileRequest request = NumberedRequest(number);
    (*request.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(GoFile());
    return request;
  }
  std::string GoFile() const { return daemons[0]->folder() + "/go"; }
  void Touch() const { std::ofstream file(GoFile()); }
  void ExpectRight(const Burst& burst) {
    for (const auto& call : burst.calls()) {
      ASSERT_TRUE(call->status.ok()) << call->status.error_message();
      ASSERT_EQ(WrongWith(call->request, call->response), "");
    }
  }

  RedisNodes* nodes = nullptr;
  std::vector<std::unique_ptr<DaemonProcess>> daemons;
  std::vector<std::unique_ptr<Stubs>> stubs;
};

TEST_F(ClusterTest, AThousandIdenticalRequestsAreOneCompile) {
  StartDaemons({2, 2, 2});
  const absl::Time begin = absl::Now();
  Burst burst;
  for (int i = 0; i < kCallers; ++i) burst.Add(*stubs[i % kDaemons], NumberedRequest(1, 0, /*sleep_ms=*/200));
  burst.Wait();
  printf("%d callers at %d daemons, one kernel of 200 ms: %.0f ms, %d compile(s)\n", kCallers, kDaemons,
         absl::ToDoubleMilliseconds(absl::Now() - begin), static_cast<int>(Sum(Compiles())));
  ExpectRight(burst);
  EXPECT_EQ(Sum(Compiles()), 1u);
}

TEST_F(ClusterTest, AThousandIdenticalRequestsOfAWrongKernelAreOneCompile) {
  StartDaemons({2, 2, 2});
  v1::CompileRequest wrong = NumberedRequest(1, 0, /*sleep_ms=*/100);
  wrong.set_ir("error invalid the kernel is wrong\n");
  Burst burst;
  for (int i = 0; i < kCallers; ++i) burst.Add(*stubs[i % kDaemons], wrong);
  burst.Wait();
  for (const auto& call : burst.calls()) {
    ASSERT_EQ(call->status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    ASSERT_NE(call->status.error_message().find("the kernel is wrong"), std::string::npos);
    ASSERT_FALSE(call->status.error_details().empty());
  }
  EXPECT_EQ(Sum(Compiles()), 1u);
}

TEST_F(ClusterTest, WhenTheDaemonThatCompilesDiesAnotherDoesItOnceMore) {
  StartDaemons({2, 2, 2});
  const v1::CompileRequest request = WaitingRequest(1);
  Burst burst;
  for (int i = 0; i < kCallers; ++i) burst.Add(*stubs[i % kDaemons], request);
  ASSERT_TRUE(Await([&] { return Sum(Compiles()) == 1; }));
  const std::vector<uint64_t> compiles = Compiles();
  const int leader = static_cast<int>(std::find(compiles.begin(), compiles.end(), 1u) - compiles.begin());
  const absl::Time killed = absl::Now();
  daemons[leader]->Kill();
  const int survivor = (leader + 1) % kDaemons, other = (leader + 2) % kDaemons;
  // Callers of the dead one ask another, once all of them know.
  const int lost = kCallers / kDaemons + (leader < kCallers % kDaemons ? 1 : 0);
  ASSERT_TRUE(Await([&] { return burst.Count(grpc::StatusCode::UNAVAILABLE) == lost; }));
  Burst again;
  for (const auto& call : burst.calls())
    if (call->done.HasBeenNotified()) again.Add(*stubs[survivor], request);
  ASSERT_TRUE(Await([&] { return daemons[survivor]->Stats().compiles() + daemons[other]->Stats().compiles() > 0; }));
  const absl::Duration taken_over = absl::Now() - killed;
  Touch();
  burst.Wait();
  again.Wait();
  const uint64_t more = daemons[survivor]->Stats().compiles() + daemons[other]->Stats().compiles();
  printf(
      "the compiling daemon of %d callers killed: taken over after %.0f ms, all answered after %.0f ms, %d compiles\n",
      kCallers, absl::ToDoubleMilliseconds(taken_over), absl::ToDoubleMilliseconds(absl::Now() - killed),
      static_cast<int>(1 + more));
  ExpectRight(again);
  int right = 0;
  for (int i = 0; i < kCallers; ++i) {
    const Call& call = *burst.calls()[i];
    if (i % kDaemons == leader) {
      EXPECT_EQ(call.status.error_code(), grpc::StatusCode::UNAVAILABLE);
    } else {
      ASSERT_TRUE(call.status.ok()) << call.status.error_message();
      ASSERT_EQ(WrongWith(call.request, call.response), "");
      ++right;
    }
  }
  EXPECT_EQ(right + static_cast<int>(again.calls().size()), kCallers);
  EXPECT_EQ(more, 1u);
}

TEST_F(ClusterTest, WhenTheEngineStallsEveryoneIsAnsweredAndHitsDoNotWait) {
  StartDaemons({2, 2, 2});
  constexpr int kKnown = 20;
  for (int i = 0; i < kKnown; ++i) {
    v1::CompileResponse response;
    ASSERT_TRUE(Compile(*stubs[0], NumberedRequest(i), &response).ok());
  }
  Burst burst;
  const auto add = [&](int first) {
    for (int i = first; i < first + 60; ++i) burst.Add(*stubs[i % kDaemons], NumberedRequest(1000 + i / 2, 0, 50));
  };
  add(0);
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGSTOP);
  add(60);
  std::vector<absl::Duration> hits;
  for (int i = 0; i < 200; ++i) {
    v1::CompileResponse response;
    const absl::Time begin = absl::Now();
    ASSERT_TRUE(Compile(*stubs[0], NumberedRequest(i % kKnown), &response).ok());
    hits.push_back(absl::Now() - begin);
    EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT);
  }
  burst.Wait();
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGCONT);
  ExpectRight(burst);
  std::sort(hits.begin(), hits.end());
  printf("hits while the engine stalls: median %.2f ms, longest %.2f ms\n", absl::ToDoubleMilliseconds(hits[100]),
         absl::ToDoubleMilliseconds(hits.back()));
  // Less than one time limit of a round trip to the engine.
  EXPECT_LT(hits.back(), absl::Milliseconds(500));
}

TEST_F(ClusterTest, ABusyDaemonsJobsMoveToIdleOnesAndEachIsCompiledOnce) {
  StartDaemons({1, 2, 2});
  constexpr int kJobs = 30;
  Burst burst;
  for (int i = 0; i < kJobs; ++i) burst.Add(*stubs[0], NumberedRequest(i, 0, /*sleep_ms=*/200));
  burst.Wait();
  ExpectRight(burst);
  const std::vector<uint64_t> compiles = Compiles();
  printf("%d kernels of 200 ms at a daemon of one worker beside two idle daemons: compiled %d, %d and %d\n", kJobs,
         static_cast<int>(compiles[0]), static_cast<int>(compiles[1]), static_cast<int>(compiles[2]));
  EXPECT_EQ(Sum(compiles), static_cast<uint64_t>(kJobs));
  EXPECT_GE(compiles[1] + compiles[2], static_cast<uint64_t>(kJobs / 3));
  EXPECT_GT(daemons[0]->Stats().cluster().jobs_offered(), 0u);
  // One that its own daemon got to meanwhile may have been taken too: the taker finds the outcome.
  EXPECT_GE(daemons[1]->Stats().cluster().jobs_taken() + daemons[2]->Stats().cluster().jobs_taken(),
            compiles[1] + compiles[2]);
}

TEST_F(ClusterTest, AJobWhoseTakerDiesIsCompiledAllTheSame) {
  StartDaemons({1, 1});
  Burst burst;
  burst.Add(*stubs[0], WaitingRequest(1));  // Keeps the first daemon's worker.
  ASSERT_TRUE(Await([&] { return daemons[0]->Stats().compiles() == 1; }));
  burst.Add(*stubs[0], WaitingRequest(2));
  ASSERT_TRUE(Await([&] { return daemons[1]->Stats().compiles() == 1; }));
  daemons[1]->Kill();
  Touch();
  burst.Wait();
  ExpectRight(burst);
  EXPECT_EQ(daemons[0]->Stats().compiles(), 2u);
}

// A worker waits for one round trip, that of its job's lease: with a second one the time is not kept.
TEST(SlowEngine, CostsAWorkerOneRoundTripAKernel) {
  if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  constexpr absl::Duration kRoundTrip = absl::Milliseconds(50);
  constexpr int kKernels = 200, kWorkers = 2, kAtOnce = 32;
  RedisNodes node(1);
  ASSERT_TRUE(node.ok());
  const std::string& address = node.addresses()[0];
  TcpProxy far(std::stoi(address.substr(address.rfind(':') + 1)));
  far.DelayToCaller(kRoundTrip);
  DaemonProcess daemon({"--cluster", absl::StrCat("127.0.0.1:", far.port())});
  daemon.workers = kWorkers;
  ASSERT_TRUE(daemon.Start());
  std::atomic<int> next{0}, answered{0};
  const absl::Time start = absl::Now();
  std::vector<std::thread> callers;
  for (int i = 0; i < kAtOnce; ++i) {
    callers.emplace_back([&] {
      Stubs stubs(daemon.address());
      for (int number = next++; number < kKernels; number = next++) {
        v1::CompileResponse response;
        v1::CompileRequest request = NumberedRequest(number);
        request.set_priority(v1::PRIORITY_PREBUILD);
        answered += Compile(stubs, request, &response).ok();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  const absl::Duration took = absl::Now() - start;
  EXPECT_EQ(answered, kKernels);
  EXPECT_EQ(daemon.Stats().cluster().leases_granted(), static_cast<uint64_t>(kKernels));
  printf("%d kernels, %d at once, %d workers, round trips of 50 ms: %.1f a second of %.1f\n", kKernels, kAtOnce,
         kWorkers, kKernels / absl::ToDoubleSeconds(took), kWorkers / absl::ToDoubleSeconds(kRoundTrip));
  EXPECT_LT(took, WithinReason(kRoundTrip * kKernels / kWorkers * 1.7));
}

}  // namespace
}  // namespace tritond::tests
