// SPDX-License-Identifier: Apache-2.0
// Daemons are restarted one after the other, in order and by kill -9. The load comes from clients that make each call
// once and leave the rest to the client library.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/cc/client.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/redis_fixture.h"

namespace tritond::tests {
namespace {

constexpr int kCallers = 4;
constexpr int kBatch = 5;

class RollingRestart : public testing::Test {
 protected:
  // The first one makes a key, and all sign with it.
  void StartDaemons(int count, std::vector<std::string> options) {
    for (int i = 0; i < count; ++i) {
      daemons_.push_back(std::make_unique<DaemonProcess>(options));
      daemons_.back()->workers = 1;
      ASSERT_TRUE(daemons_.back()->Start());
      if (i == 0) options.insert(options.end(), {"--signing-key", daemons_[0]->data_dir() + "/signing.key"});
    }
  }

  // Restarts all in turn, at least twice each, while callers go on; every second time without a word if `kill`.
  void RestartUnderLoad(bool kill) {
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) callers.emplace_back([this, i] { Call(i); });
    const absl::Time end = absl::Now() + TestTime(absl::Seconds(5));
    const int count = static_cast<int>(daemons_.size());
    int restarts = 0;
    for (; restarts < std::max(2 * count, 4) || absl::Now() < end; ++restarts) {
      DaemonProcess& daemon = *daemons_[restarts % count];
      if (kill && restarts / count % 2 == 1) {
        daemon.Kill();
      } else {
        EXPECT_EQ(daemon.Terminate(), 0);
      }
      ASSERT_TRUE(daemon.Start());
      absl::SleepFor(absl::Milliseconds(300));
    }
    stop_ = true;
    for (std::thread& caller : callers) caller.join();
    std::cout << answers_ << " answers, " << hits_ << " hits, " << restarts << " restarts\n";
    EXPECT_EQ(failed_, 0u);
    EXPECT_EQ(wrong_, 0u);
    EXPECT_GT(hits_, 0u);
  }

  int kernels_ = 500;

 private:
  // Compiles one by one, and every fourth time a batch.
  void Call(int seed) {
    client::ClientOptions options;
    options.address =
        absl::StrJoin(daemons_, ",", [](std::string* out, const auto& daemon) { *out += daemon->address(); });
    auto client = client::Client::Connect(options);
    ASSERT_TRUE(client.ok()) << client.status();
    std::mt19937_64 random(seed);
    while (!stop_) {
      const absl::Time deadline = absl::Now() + absl::Seconds(60);
      std::vector<v1::CompileRequest> requests;
      if (random() % 4 != 0) {
        requests.push_back(NumberedRequest(random() % kernels_, 0, 5));
        Check(requests[0], (*client)->Compile(requests[0], deadline));
        continue;
      }
      for (int i = 0; i < kBatch; ++i) requests.push_back(NumberedRequest(random() % kernels_, 0, 5));
      const auto check = [&](size_t index, absl::StatusOr<v1::CompileResponse> result) {
        Check(requests[index], result);
      };
      const absl::Status status = (*client)->CompileBatch(requests, check, deadline);
      if (!status.ok()) Check(requests[0], status);
    }
  }

  void Check(const v1::CompileRequest& request, const absl::StatusOr<v1::CompileResponse>& response) {
    ++answers_;
    if (!response.ok()) {
      ++failed_;
      std::cerr << "failed: " << response.status() << "\n";
    } else if (const std::string what = WrongWith(request, *response); !what.empty()) {
      ++wrong_;
      std::cerr << "wrong: " << what << "\n";
    } else if (response->cache() == v1::CACHE_STATUS_HIT) {
      ++hits_;
    }
  }

  std::vector<std::unique_ptr<DaemonProcess>> daemons_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> answers_{0}, failed_{0}, wrong_{0}, hits_{0};
};

TEST_F(RollingRestart, WithASharedEngineFailsNoRequest) {
  if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  RedisNodes nodes(3);
  ASSERT_TRUE(nodes.ok());
  std::vector<std::string> options{"--drain-grace-seconds", "10"};
  for (const std::string& address : nodes.addresses()) options.insert(options.end(), {"--cluster", address});
  StartDaemons(3, options);
  RestartUnderLoad(/*kill=*/true);
}

TEST_F(RollingRestart, WithTwoSeparateDaemonsFailsNoRequest) {
  StartDaemons(2, {"--drain-grace-seconds", "10"});
  RestartUnderLoad(/*kill=*/true);
}

TEST_F(RollingRestart, WithCompilesThatAreGivenUpFailsNoRequest) {
  StartDaemons(2, {"--drain-grace-seconds", "0"});
  RestartUnderLoad(/*kill=*/false);
}

TEST_F(RollingRestart, WithOneDaemonMakesCallersWaitAndFailsNoRequest) {
  kernels_ = 20;  // Its callers wait for most of the time, and are to see some hits.
  StartDaemons(1, {"--drain-grace-seconds", "10"});
  RestartUnderLoad(/*kill=*/true);
}

}  // namespace
}  // namespace tritond::tests
