// SPDX-License-Identifier: Apache-2.0
// More work than there is room for: memory stays bounded, every tenant is served, and the rest is told when to come
// back. With --seconds a soak. Its workers sleep instead of working, so that it leaves the machine to others.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

constexpr int kTenants = 4;
constexpr int kWorkers = 4;
constexpr double kCompileMs = 50;
constexpr int kQueue = 32;
constexpr uint64_t kDaemonBytes = uint64_t{160} << 20;
constexpr uint64_t kStoredMb = 256;
// Twice as many calls as fit into workers and queue.
constexpr int kClients = 2 * (kWorkers + kQueue);

bool HasRetryInfo(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::RetryInfo retry;
  if (!details.ParseFromString(status.error_details())) return false;
  return std::any_of(details.details().begin(), details.details().end(),
                     [&](const auto& any) { return any.UnpackTo(&retry) && retry.has_retry_delay(); });
}

struct Counts {
  std::atomic<uint64_t> answers[kTenants] = {};
  std::atomic<uint64_t> refused{0}, without_delay{0}, wrong{0}, others{0};
};

// Calls again and again, each time another kernel; the first tenant has as many clients as all others together.
void CallUntil(const std::atomic<bool>& stop, const std::string& address, int client, Counts* counts) {
  Stubs stubs(address);
  const int tenant = client % 2 == 0 ? 0 : 1 + client / 2 % (kTenants - 1);
  for (uint64_t i = 0; !stop; ++i) {
    v1::CompileRequest request =
        NumberedRequest(client * uint64_t{1'000'000'000} + i, i % 16 == 0 ? 40000 : 0, kCompileMs);
    request.set_tenant(absl::StrCat("tenant", tenant));
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, request, &response);
    if (status.ok()) {
      ++counts->answers[tenant];
      if (!WrongWith(request, response).empty()) ++counts->wrong;
      continue;
    }
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      ++counts->refused;
      if (!HasRetryInfo(status)) ++counts->without_delay;
    } else {
      ++counts->others;
      std::cerr << "unexpected: " << status.error_message() << "\n";
    }
    absl::SleepFor(absl::Milliseconds(250));
  }
}

TEST(Overload, TwiceTheCapacityLeavesMemoryBoundedAndNoTenantStarved) {
  DaemonProcess daemon({"--max-queued", absl::StrCat(kQueue), "--max-stored-mb", absl::StrCat(kStoredMb)});
  daemon.workers = kWorkers;
  daemon.memory_cache_mb = 32;
  ASSERT_TRUE(daemon.Start());
  Counts counts;
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back([&, i] { CallUntil(stop, daemon.address(), i, &counts); });

  const absl::Duration time = TestTime(absl::Seconds(8));
  const absl::Time begin = absl::Now();
  uint64_t early = 0, most = 0, most_results = 0, most_stored = 0;
  while (absl::Now() - begin < time) {
    absl::SleepFor(std::min(time / 40, absl::Seconds(10)));
    const uint64_t resident = ResidentBytesOf(daemon.pid());
    most = std::max(most, resident);
    const v1::GetStatsResponse stats = daemon.Stats();
    most_results = std::max(most_results, stats.stored_results());
    most_stored = std::max(most_stored, stats.stored_bytes());
    if (absl::Now() - begin < time / 4) early = most;
  }
  stop = true;
  for (std::thread& client : clients) client.join();

  uint64_t least = UINT64_MAX, sum = 0;
  for (int tenant = 0; tenant < kTenants; ++tenant) {
    least = std::min<uint64_t>(least, counts.answers[tenant]);
    sum += counts.answers[tenant];
    std::cout << "tenant " << tenant << ": " << counts.answers[tenant] << " answers\n";
  }
  const v1::GetStatsResponse stats = daemon.Stats();
  std::cout << sum << " answers, " << counts.refused << " refused, resident at most " << (most >> 20) << " MiB, "
            << (early >> 20) << " MiB in the first quarter, at most " << most_results << " results stored, at the end "
            << stats.stored_results() << " of " << (stats.stored_bytes() >> 20) << " MiB, " << stats.workers_lost()
            << " workers lost\n";
  EXPECT_EQ(counts.wrong, 0u);
  EXPECT_EQ(counts.others, 0u);
  EXPECT_GT(counts.refused, 0u);
  EXPECT_EQ(counts.without_delay, 0u);
  // Fair between tenants, however many clients each has.
  EXPECT_GT(least * kTenants * 2, sum);
  // The daemon itself with its caches, and what it keeps of stored results, which count at least what that takes. A
  // sanitizer's own memory is not looked at.
  EXPECT_LE(most_stored, (kStoredMb + 1) << 20);  // what has just come is there before others go
  if (!kSanitized) EXPECT_LT(most, kDaemonBytes + (kStoredMb << 20));
}

}  // namespace
}  // namespace tritond::tests
