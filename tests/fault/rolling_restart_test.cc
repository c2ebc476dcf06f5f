// SPDX-License-Identifier: Apache-2.0
// Three daemons that share a cluster's engine are restarted one after the other, in order and by kill -9, under load.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/redis_fixture.h"

namespace tritond::tests {
namespace {

constexpr int kDaemons = 3;
constexpr int kClients = 4;

// Calls one daemon after the other until one answers, as a client with several addresses does.
grpc::Status CompileSomewhere(std::vector<std::unique_ptr<Stubs>>& stubs, size_t first,
                              const v1::CompileRequest& request, v1::CompileResponse* response) {
  grpc::Status status;
  for (const absl::Time give_up = absl::Now() + absl::Seconds(30); absl::Now() < give_up; ++first) {
    status = Compile(*stubs[first % stubs.size()], request, response, absl::Seconds(20));
    // A server that ends cancels calls that it has not begun.
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE && status.error_code() != grpc::StatusCode::CANCELLED)
      return status;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return status;
}

TEST(RollingRestart, OfDaemonsThatShareAnEngineFailsNoRequest) {
  if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  RedisNodes nodes(3);
  ASSERT_TRUE(nodes.ok());
  std::vector<std::string> options{"--drain-grace-seconds", "10"};
  for (const std::string& address : nodes.addresses()) options.insert(options.end(), {"--cluster", address});
  std::vector<std::unique_ptr<DaemonProcess>> daemons;
  for (int i = 0; i < kDaemons; ++i) {
    daemons.push_back(std::make_unique<DaemonProcess>(options));
    daemons.back()->workers = 1;
    ASSERT_TRUE(daemons.back()->Start());
  }

  std::atomic<bool> stop{false};
  std::atomic<uint64_t> answers{0}, failed{0}, wrong{0}, hits{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      std::vector<std::unique_ptr<Stubs>> stubs;
      for (const auto& daemon : daemons) stubs.push_back(std::make_unique<Stubs>(daemon->address()));
      std::mt19937_64 random(client);
      while (!stop) {
        const v1::CompileRequest request = NumberedRequest(random() % 500, 0, 5);
        v1::CompileResponse response;
        const grpc::Status status = CompileSomewhere(stubs, random(), request, &response);
        ++answers;
        if (!status.ok()) {
          ++failed;
          std::cerr << "failed: " << status.error_message() << "\n";
        } else if (const std::string what = WrongWith(request, response); !what.empty()) {
          ++wrong;
          std::cerr << "wrong: " << what << "\n";
        } else if (response.cache() == v1::CACHE_STATUS_HIT) {
          ++hits;
        }
      }
    });
  }
  const absl::Time end = absl::Now() + TestTime(absl::Seconds(5));
  int restarts = 0;
  for (; restarts < 2 * kDaemons || absl::Now() < end; ++restarts) {
    DaemonProcess& daemon = *daemons[restarts % kDaemons];
    // Every second round without a word.
    if (restarts / kDaemons % 2 == 0) {
      EXPECT_EQ(daemon.Terminate(), 0);
    } else {
      daemon.Kill();
    }
    ASSERT_TRUE(daemon.Start());
    absl::SleepFor(absl::Milliseconds(300));
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  std::cout << answers << " answers, " << hits << " hits, " << restarts << " restarts\n";
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(hits, 0u);
}

}  // namespace
}  // namespace tritond::tests
