// SPDX-License-Identifier: Apache-2.0
// The attackers of attack_test, in a process of their own, as they would be on other machines. In the test's process
// their calls would share threads with the honest ones.
//
//   attackers KIND HOST:PORT HTTP_PORT FOLDER SECRET REPORT    KIND: texts, calls, connections, all
//
// Attacks until SIGTERM, one thread for each attack, then writes REPORT. It holds a line "round NAME COUNT" for each
// attack, and "succeeded COUNT WHAT" for what came through.
#include <grpcpp/grpcpp.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "tests/fault/attack.h"

namespace tritond::tests {
namespace {

std::atomic<bool> stop{false};

// Shares of one processor's time, of all attacks together and of each. On machines of their own they would take none of
// the daemon's time. The lowest scheduling class is not enough. A woken thread of the daemon that has had more than its
// fair part waits for such a thread until the next tick. That tick may be 4 ms away.
constexpr double kShareOfAll = 0.22, kShareOfOne = 0.045;

absl::Duration ProcessorTime(clockid_t of) {
  timespec used{};
  clock_gettime(of, &used);
  return absl::DurationFromTimespec(used);
}

// Waits until all attacks have taken no more than their share since `start`, and this thread no more than its own.
void AwaitShare(absl::Time start) {
  while (!stop) {
    const absl::Duration passed = absl::Now() - start;
    if (ProcessorTime(CLOCK_PROCESS_CPUTIME_ID) <= kShareOfAll * passed &&
        ProcessorTime(CLOCK_THREAD_CPUTIME_ID) <= kShareOfOne * passed)
      return;
    absl::SleepFor(absl::Milliseconds(5));
  }
}

std::vector<Attack> AttacksOf(const std::string& kind) {
  std::vector<Attack> attacks;
  const auto add = [&](const char* name, std::vector<Attack> (*these)()) {
    if (kind != name && kind != "all") return;
    for (const Attack& attack : these()) attacks.push_back(attack);
  };
  add("texts", TextAttacks);
  add("calls", CallAttacks);
  add("connections", ConnectionAttacks);
  return attacks;
}

// What the threads have done. Thread-safe.
class Report final {
 public:
  void Round(const std::string& name) { Count(&rounds_, name); }
  void Succeeded(const std::string& what) { Count(&succeeded_, what); }
  void Write(const std::string& path) {
    absl::MutexLock lock(&mu_);
    std::ofstream out(path);
    for (const auto& [name, count] : rounds_) out << "round " << name << " " << count << "\n";
    for (const auto& [what, count] : succeeded_) out << "succeeded " << count << " " << what << "\n";
  }

 private:
  void Count(std::map<std::string, int>* counts, const std::string& name) {
    absl::MutexLock lock(&mu_);
    ++(*counts)[name];
  }
  absl::Mutex mu_;
  std::map<std::string, int> rounds_, succeeded_;
};

// The flood needs many descriptors. Attackers run while no other thread wants the processor.
void PrepareProcess() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
  struct sigaction action {};
  action.sa_handler = [](int) { stop = true; };
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int Main(const std::vector<std::string>& words) {
  AttackedDaemon target{"", 0, 0, "", "", nullptr, stop};
  if (words.size() != 7 || !absl::SimpleAtoi(words[3], &target.http_port) ||
      !absl::SimpleAtoi(words[2].substr(words[2].rfind(':') + 1), &target.port)) {
    std::cerr << "usage: attackers texts|calls|connections|all HOST:PORT HTTP_PORT FOLDER SECRET REPORT\n";
    return 2;
  }
  PrepareProcess();
  Report report;
  target.address = words[2];
  target.folder = words[4];
  target.secret = words[5];
  target.succeeded = [&](const std::string& what) { report.Succeeded(what); };
  std::atomic<uint64_t> next{1'000'000'000};
  const absl::Time start = absl::Now();
  std::vector<std::thread> threads;
  for (const Attack& attack : AttacksOf(words[1])) {
    threads.emplace_back([&, attack] {
      while (!stop) {
        attack.round(target, next++);
        report.Round(attack.name);
        AwaitShare(start);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  report.Write(words[6]);
  return 0;
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) { return tritond::tests::Main({argv, argv + argc}); }
