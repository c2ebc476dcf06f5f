// SPDX-License-Identifier: Apache-2.0
// The attackers of attack_test, in a process of their own, as they would be on other machines: in the test's process
// their calls would share threads with the honest ones.
//
//   attackers KIND HOST:PORT HTTP_PORT FOLDER SECRET REPORT    KIND: texts, calls, connections, all
//
// Attacks until SIGTERM, one thread for each attack, then writes REPORT: a line "round NAME COUNT" for each attack, and
// "succeeded COUNT WHAT" for what came through.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/resource.h>

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

// The flood needs many descriptors. And the processor time of another machine is not the daemon's.
void PrepareProcess() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  setpriority(PRIO_PROCESS, 0, 10);
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
  std::vector<std::thread> threads;
  for (const Attack& attack : AttacksOf(words[1])) {
    threads.emplace_back([&, attack] {
      while (!stop) {
        attack.round(target, next++);
        report.Round(attack.name);
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
