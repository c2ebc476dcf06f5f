// SPDX-License-Identifier: Apache-2.0
#include "workers/pool/child_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>

#include "timing/steady/steady_time.h"

namespace tritond::workers {
namespace {

using testing::HasSubstr;

// Collects ends, and lets a test wait for a number of them.
class Ends {
 public:
  void Add(const ChildEnd& end) {
    absl::MutexLock lock(&mu_);
    ends_.push_back(end);
  }
  std::vector<ChildEnd> WaitFor(size_t count) {
    absl::MutexLock lock(&mu_);
    auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ends_.size() >= count; };
    EXPECT_TRUE(mu_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(20)));
    return ends_;
  }

 private:
  absl::Mutex mu_;
  std::vector<ChildEnd> ends_ ABSL_GUARDED_BY(mu_);
};

ChildProcesses::Config Shell(const std::string& script, int count = 1) {
  ChildProcesses::Config config;
  config.command = {"/bin/sh", "-c", script};
  config.count = count;
  config.min_backoff = absl::Milliseconds(1);
  return config;
}

TEST(ChildProcesses, ReportsSignalAndLastLines) {
  Ends ends;
  ChildProcesses children(
      Shell("echo first >&2; echo last words >&2; kill -ABRT $$"), [&](const ChildEnd& end) { ends.Add(end); },
      nullptr);
  children.Start();
  const ChildEnd end = ends.WaitFor(1)[0];
  EXPECT_FALSE(end.clean);
  EXPECT_THAT(end.report, HasSubstr("signal 6"));
  EXPECT_THAT(end.report, HasSubstr("first\nlast words"));
}

TEST(ChildProcesses, ReportsExitStatus) {
  Ends ends;
  ChildProcesses children(
      Shell("exit 3"), [&](const ChildEnd& end) { ends.Add(end); }, nullptr);
  children.Start();
  EXPECT_EQ(ends.WaitFor(1)[0].report, "exit status 3");
}

TEST(ChildProcesses, StartsAChildAgain) {
  Ends ends;
  ChildProcesses children(
      Shell("exit 0"), [&](const ChildEnd& end) { ends.Add(end); }, nullptr);
  children.Start();
  const auto seen = ends.WaitFor(3);
  EXPECT_TRUE(seen[0].clean);
  EXPECT_NE(seen[0].pid, seen[1].pid);
  EXPECT_GE(children.List()[0].deaths, 3u);
}

TEST(ChildProcesses, PausesLongerAfterEachUselessLife) {
  ChildProcesses::Config config = Shell("exit 1");
  config.min_backoff = config.max_backoff = absl::Hours(1);
  Ends ends;
  ChildProcesses children(
      config, [&](const ChildEnd& end) { ends.Add(end); }, nullptr);
  children.Start();
  ends.WaitFor(1);
  EXPECT_EQ(children.List()[0].state, ChildProcesses::Child::State::kBackingOff);
  EXPECT_GT(children.List()[0].next_start, timing::SteadyNow() + absl::Minutes(30));
}

TEST(ChildProcesses, StartsAgainAtOnceAfterAUsefulLife) {
  ChildProcesses::Config config = Shell("exec sleep 1000");
  config.min_backoff = config.max_backoff = absl::Hours(1);
  Ends ends;
  ChildProcesses children(
      config, [&](const ChildEnd& end) { ends.Add(end); }, nullptr);
  children.Start();
  auto running = [&] { return children.List()[0].state == ChildProcesses::Child::State::kRunning; };
  while (!running()) std::this_thread::yield();
  const pid_t pid = children.List()[0].pid;
  EXPECT_TRUE(children.Owns(pid));
  children.MarkUseful(pid);
  children.Kill(pid);
  EXPECT_THAT(ends.WaitFor(1)[0].report, HasSubstr("signal 9"));
  EXPECT_FALSE(children.Owns(pid));
  EXPECT_LT(children.List()[0].next_start, timing::SteadyNow() + absl::Minutes(1));
}

TEST(ChildProcesses, ACommandThatDoesNotExistIsAnEndWithAReason) {
  ChildProcesses::Config config;
  config.command = {"/nonexistent/program"};
  config.count = 1;
  ChildProcesses children(config, nullptr, nullptr);
  children.Start();
  while (children.List()[0].deaths == 0) std::this_thread::yield();
  EXPECT_THAT(children.List()[0].last_death, HasSubstr("/nonexistent/program"));
}

TEST(ChildProcesses, ProcessesOfAChildEndWithIt) {
  std::mutex mu;
  pid_t grandchild = 0;
  Ends ends;
  ChildProcesses children(
      Shell("sleep 1000 & echo $! >&2; wait"), [&](const ChildEnd& end) { ends.Add(end); },
      [&](pid_t, const std::string& line) {
        std::lock_guard<std::mutex> lock(mu);
        grandchild = static_cast<pid_t>(std::stoi(line));
      });
  children.Start();
  const auto started = [&] {
    std::lock_guard<std::mutex> lock(mu);
    return grandchild;
  };
  while (started() == 0) std::this_thread::yield();
  const pid_t pid = started();
  children.Kill(children.List()[0].pid);
  ends.WaitFor(1);
  // Gone, or a zombie that nobody has reaped yet.
  const auto runs = [pid] {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string id, name, state;
    return file >> id >> name >> state && state != "Z";
  };
  while (runs()) std::this_thread::yield();
}

TEST(ChildProcesses, StopEndsAllAndKillsTheStubborn) {
  absl::Mutex mu;
  int ready = 0;
  Ends ends;
  ChildProcesses children(
      Shell("trap '' TERM; echo ready >&2; while :; do sleep 1000; done", 2),
      [&](const ChildEnd& end) { ends.Add(end); },
      [&](pid_t, const std::string&) {
        absl::MutexLock lock(&mu);
        ++ready;
      });
  children.Start();
  mu.LockWhen(absl::Condition(
      +[](int* count) { return *count == 2; }, &ready));
  mu.Unlock();
  children.Stop(absl::Milliseconds(50));
  for (const ChildEnd& end : ends.WaitFor(2)) EXPECT_THAT(end.report, HasSubstr("signal 9"));
  EXPECT_EQ(ends.WaitFor(2).size(), 2u);
}

}  // namespace
}  // namespace tritond::workers
