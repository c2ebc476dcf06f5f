// SPDX-License-Identifier: Apache-2.0
// kill -9 of the daemon and of its workers, in a loop, under load.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

constexpr int kClients = 4;
constexpr uint64_t kKernels = 400;

// Clients that compile kernels of a set again and again, and submit jobs; remembers what was acknowledged.
class Load {
 public:
  explicit Load(std::string address) : address_(std::move(address)) {
    for (int i = 0; i < kClients; ++i) threads_.emplace_back([this, i] { CompileMany(i); });
    threads_.emplace_back([this] { SubmitMany(); });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ~Load() { Stop(); }

  std::set<uint64_t> compiled() { return Take(compiled_); }
  std::set<std::string> submitted() { return Take(submitted_); }
  std::string wrong() {
    absl::MutexLock lock(&mu_);
    return wrong_;
  }
  uint64_t answers() const { return answers_; }
  // Small ones and such as go to blob files.
  static v1::CompileRequest KernelOf(uint64_t number) {
    return NumberedRequest(number, number % 8 == 0 ? 100000 : 0, number % 3);
  }

 private:
  template <typename Set>
  Set Take(const Set& set) {
    absl::MutexLock lock(&mu_);
    return set;
  }

  void CompileMany(int seed) {
    Stubs stubs(address_);
    std::mt19937_64 random(seed);
    while (!stop_) {
      const uint64_t number = random() % kKernels;
      const v1::CompileRequest request = KernelOf(number);
      v1::CompileResponse response;
      const grpc::Status status = Compile(stubs, request, &response, absl::Seconds(20));
      if (!status.ok()) {
        absl::SleepFor(absl::Milliseconds(10));  // The daemon is down, or was killed on the way.
        continue;
      }
      ++answers_;
      const std::string wrong = WrongWith(request, response);
      absl::MutexLock lock(&mu_);
      if (!wrong.empty()) wrong_ = wrong;
      compiled_.insert(number);
    }
  }

  void SubmitMany() {
    Stubs stubs(address_);
    for (uint64_t number = 1'000'000; !stop_; ++number) {
      v1::SubmitRequest request;
      *request.mutable_request() = NumberedRequest(number);
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(5)));
      v1::Job job;
      if (stubs.compile->Submit(&context, request, &job).ok()) {
        absl::MutexLock lock(&mu_);
        submitted_.insert(job.id());
      }
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  const std::string address_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> answers_{0};
  absl::Mutex mu_;
  std::set<uint64_t> compiled_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> submitted_ ABSL_GUARDED_BY(mu_);
  std::string wrong_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

// Every kernel that was answered is a hit now, with the right bytes.
void ExpectKept(DaemonProcess& daemon, const std::set<uint64_t>& kernels) {
  Stubs stubs(daemon.address());
  for (uint64_t number : kernels) {
    const v1::CompileRequest request = Load::KernelOf(number);
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT) << "kernel " << number << " was lost";
    EXPECT_EQ(WrongWith(request, response), "");
  }
}

void ExpectEnded(DaemonProcess& daemon, const std::set<std::string>& jobs) {
  Stubs stubs(daemon.address());
  for (const std::string& id : jobs) {
    v1::Job job;
    const bool ended = Await([&] {
      grpc::ClientContext context;
      v1::GetJobRequest request;
      request.set_id(id);
      const grpc::Status status = stubs.compile->GetJob(&context, request, &job);
      EXPECT_TRUE(status.ok()) << "job " << id << " was lost: " << status.error_message();
      return !status.ok() || job.state() == v1::JOB_STATE_SUCCEEDED || job.state() == v1::JOB_STATE_FAILED;
    });
    EXPECT_TRUE(ended) << id;
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.ShortDebugString();
  }
}

TEST(Kill9, LosesNothingThatWasAcknowledgedAndServesNoWrongByte) {
  DaemonProcess daemon({"--quarantine-kills", "1000"});  // The kernels are not to blame.
  ASSERT_TRUE(daemon.Start());
  Load load(daemon.address());
  std::mt19937_64 random(7);
  constexpr size_t kLeastAnswers = 20;
  const absl::Time end = absl::Now() + TestTime(WithinReason(absl::Seconds(6)));
  const absl::Time last = end + absl::Seconds(60);  // on a machine that has much else to do
  int daemons = 0, workers = 0;
  while (absl::Now() < end || (load.answers() <= kLeastAnswers && absl::Now() < last)) {
    absl::SleepFor(WithinReason(absl::Milliseconds(50 + random() % 500)));
    if (random() % 3 != 0) {
      const std::vector<pid_t> pids = daemon.WorkerPids();
      if (!pids.empty()) kill(pids[random() % pids.size()], SIGKILL);
      ++workers;
      continue;
    }
    daemon.Kill();
    ++daemons;
    ASSERT_TRUE(daemon.Start());
  }
  load.Stop();
  RecordProperty("kills", daemons + workers);
  std::cout << load.answers() << " answers, " << load.submitted().size() << " submitted jobs, " << daemons
            << " kills of the daemon, " << workers << " of workers\n";
  EXPECT_EQ(load.wrong(), "");
  EXPECT_GT(load.answers(), kLeastAnswers);
  daemon.Kill();
  ASSERT_TRUE(daemon.Start());
  ExpectKept(daemon, load.compiled());
  ExpectEnded(daemon, load.submitted());
}

}  // namespace
}  // namespace tritond::tests
