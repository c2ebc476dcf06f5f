// SPDX-License-Identifier: Apache-2.0
// Every attack at once beside honest load: no wrong byte, hits nearly as fast as without, memory and descriptors
// bounded. Short here; by hand: build/tests/tests_fault_attack_test --seconds 3600
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "proto/plain_text/plain_text.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/program.h"
#include "tests/support/sanitizer.h"
#include "timing/turns/turns.h"

namespace tritond::tests {
namespace {

constexpr uint64_t kHits = 20;
constexpr uint64_t kMostResident = uint64_t{1} << 30;
constexpr absl::Duration kQuiet = absl::Seconds(3), kQuietOfLong = absl::Seconds(20);
// In the short form: attackers, daemon and honest callers share few CPUs with other tests.
constexpr absl::Duration kNoise = absl::Milliseconds(500);
constexpr absl::Duration kLong = absl::Seconds(60);
// Between an honest answer and the next request. A caller that never pauses asks most often while answers are fast, so
// its percentiles would hide the slow times.
constexpr absl::Duration kPause = absl::Microseconds(300);

struct Honest {
  std::vector<absl::Duration> hits;
  std::map<std::string, int> wrong, failed;  // by what is wrong, and by code
  int misses = 0, probes = 0, failed_probes = 0;
};

absl::Duration Percentile99(std::vector<absl::Duration> times) {
  if (times.empty()) return absl::InfiniteDuration();
  std::sort(times.begin(), times.end());
  return times[times.size() * 99 / 100];
}

class AttackTest : public testing::Test {
 protected:
  AttackTest()
      : daemon_({"--max-incoming-mb", "256", "--max-message-mb", "64", "--max-ir-bytes", "16777216", "--max-queued-mb",
                 "128", "--log-calls", "failed"}) {
    daemon_.http_port = FreePort();
    std::filesystem::create_directories(daemon_.folder());
    std::ofstream(daemon_.folder() + "/secret") << kSecret;
  }

  void StartDaemon() {
    ASSERT_TRUE(daemon_.Start());
    Stubs stubs(daemon_.address());
    for (uint64_t number = 0; number < kHits; ++number) {
      v1::CompileResponse response;
      ASSERT_TRUE(Compile(stubs, NumberedRequest(number), &response).ok());
    }
  }

  // Descriptors that the daemon has open; nullopt where the system does not tell.
  std::optional<size_t> Descriptors() const {
    std::error_code error;
    size_t count = 0;
    for (auto it = std::filesystem::directory_iterator(absl::StrCat("/proc/", daemon_.pid(), "/fd"), error);
         !error && it != std::filesystem::directory_iterator(); it.increment(error))
      ++count;
    return error ? std::nullopt : std::optional<size_t>(count);
  }

  // Asks for what is stored and for what is not, and looks at every byte, until `end`.
  void LoadUntil(absl::Time end, Honest* honest) {
    Stubs stubs(daemon_.address());
    std::thread misses([&] { MissUntil(end, honest); });
    for (uint64_t i = 0; absl::Now() < end; ++i) {
      const v1::CompileRequest request = NumberedRequest(i % kHits);
      v1::CompileResponse response;
      const absl::Time asked = absl::Now();
      const grpc::Status status = Compile(stubs, request, &response);
      honest->hits.push_back(absl::Now() - asked);
      {
        absl::MutexLock lock(&mu_);
        if (!status.ok()) {
          ++honest->failed[absl::StrCat("hit: ", status.error_message())];
        } else if (const std::string wrong = WrongWith(request, response); !wrong.empty()) {
          ++honest->wrong[wrong];
        }
      }
      absl::SleepFor(kPause);
    }
    misses.join();
  }

  void MissUntil(absl::Time end, Honest* honest) {
    Stubs stubs(daemon_.address());
    httplib::Client http("127.0.0.1", daemon_.http_port);
    http.set_connection_timeout(std::chrono::seconds(5));
    http.set_read_timeout(std::chrono::seconds(5));
    while (absl::Now() < end) {
      const v1::CompileRequest request = NumberedRequest(1'000'000 + next_miss_++);
      v1::CompileResponse response;
      const grpc::Status status = Compile(stubs, request, &response, absl::Seconds(60));
      const bool told_to_wait = status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
      const auto probe = http.Get("/healthz");
      {
        absl::MutexLock lock(&mu_);
        ++honest->misses;
        ++honest->probes;
        if (!probe) ++honest->failed_probes;
        if (!status.ok() && !told_to_wait) ++honest->failed[absl::StrCat("miss: ", status.error_message())];
        if (const std::string wrong = status.ok() ? WrongWith(request, response) : ""; !wrong.empty())
          ++honest->wrong[wrong];
      }
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  // `kind`: which attacks, as attackers_main.cc names them.
  void Run(const std::string& kind, absl::Duration time) {
    StartDaemon();
    if (HasFatalFailure()) return;
    timing::AskForShortTurns();  // Honest callers would be on machines of their own.
    Honest quiet, honest;
    LoadUntil(absl::Now() + (time < kLong ? kQuiet : kQuietOfLong), &quiet);
    const std::optional<size_t> descriptors = Descriptors();
    Program attackers({TRITOND_ATTACKERS, kind, daemon_.address(), absl::StrCat(daemon_.http_port), daemon_.folder(),
                       kSecret, Report()},
                      daemon_.folder() + "/attackers.log");
    ASSERT_TRUE(attackers.ok());
    uint64_t most = 0;
    std::atomic<bool> stop{false};
    std::thread watch([&] {
      while (!stop) {
        most = std::max(most, ResidentBytesOf(daemon_.pid()));
        absl::SleepFor(absl::Milliseconds(50));
      }
    });
    LoadUntil(absl::Now() + time, &honest);
    attackers.Signal(SIGTERM);
    EXPECT_EQ(attackers.Wait(), 0);
    stop = true;
    watch.join();
    Expect(quiet, honest, time, most, descriptors);
  }

  std::string Report() const { return daemon_.folder() + "/attackers.report"; }

  // What the attackers say of themselves: every attack ran, and none came through.
  void ExpectVainAttacks() {
    std::ifstream report(Report());
    int attacks = 0;
    for (std::string line; std::getline(report, line);) {
      if (absl::StartsWith(line, "succeeded ")) ADD_FAILURE() << line;
      attacks += absl::StartsWith(line, "round ");
      std::cout << "  " << line << "\n";
    }
    EXPECT_GE(attacks, 3);
  }

  void Expect(const Honest& quiet, const Honest& honest, absl::Duration time, uint64_t most,
              std::optional<size_t> descriptors) {
    const absl::Duration before = Percentile99(quiet.hits), beside = Percentile99(honest.hits);
    std::cout << honest.hits.size() << " hits, 99th percentile " << beside << ", quiet " << before << "; "
              << honest.misses << " misses; resident at most " << (most >> 20) << " MiB\n";
    ExpectVainAttacks();
    for (const auto& [what, count] : honest.wrong) ADD_FAILURE() << "wrong: " << what << ", " << count << " times";
    for (const auto& [what, count] : honest.failed) ADD_FAILURE() << what << ", " << count << " times";
    EXPECT_EQ(honest.failed_probes, 0) << "of " << honest.probes;
    EXPECT_LE(beside, std::max(3 * before, time < kLong ? WithinReason(kNoise) : absl::ZeroDuration()));
    if (!kSanitized) EXPECT_LT(most, kMostResident);
    if (descriptors.has_value())
      EXPECT_TRUE(Await([&] { return Descriptors() <= *descriptors + 50; })) << *Descriptors() << " are open";
    const auto metrics = httplib::Client("127.0.0.1", daemon_.http_port).Get("/metrics");
    ASSERT_TRUE(metrics);
    EXPECT_EQ(metrics->body.find("attacker"), std::string::npos) << "refused tenants are in /metrics";
    std::ifstream log(daemon_.folder() + "/log");
    for (std::string line; std::getline(log, line);)
      ASSERT_TRUE(proto::IsPlainText(line)) << proto::EscapeToPlain(line);
    EXPECT_EQ(daemon_.Terminate(), 0);
  }

  static constexpr char kSecret[] = "the-secret-that-must-stay-on-its-machine";
  DaemonProcess daemon_;
  std::atomic<uint64_t> next_miss_{0};
  absl::Mutex mu_;  // of Honest
};

TEST_F(AttackTest, WithTexts) { Run("texts", TestTime(absl::Seconds(5))); }

TEST_F(AttackTest, WithCalls) { Run("calls", TestTime(absl::Seconds(5))); }

TEST_F(AttackTest, WithConnections) { Run("connections", TestTime(absl::Seconds(5))); }

TEST_F(AttackTest, WithEverythingAtOnce) { Run("all", TestTime(absl::Seconds(8))); }

}  // namespace
}  // namespace tritond::tests
