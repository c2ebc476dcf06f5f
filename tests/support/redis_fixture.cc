// SPDX-License-Identifier: Apache-2.0
#include "tests/support/redis_fixture.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/support/program.h"

namespace tritond::tests {
namespace {

constexpr int kAttempts = 3;
// A node's cluster bus listens 10000 above its port, and that is to be a port too.
constexpr int kPortsBelow = 55000;

std::string Output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  pclose(pipe);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

bool RedisNodes::Available() { return !Output("command -v redis-server && command -v redis-cli").empty(); }

bool RedisNodes::TlsAvailable() {
  return Available() && absl::StrContains(Output("redis-cli --tls --version 2>/dev/null"), "redis-cli");
}

RedisNodes::RedisNodes(int count, const std::vector<std::string>& options, Tls tls, int replicas)
    : tls_(std::move(tls)), replicas_(replicas) {
  // As in the daemon: connections to a node that has ended fail when they are written to.
  signal(SIGPIPE, SIG_IGN);
  std::string pattern = (std::filesystem::temp_directory_path() / "tritond-redis-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  // A port that was free may be another's by the time that it is used, and so may the one of the cluster's own bus.
  for (int attempt = 0; attempt < kAttempts && !ok_; ++attempt) {
    Stop();
    for (int i = 0; i < count; ++i) {
      ports_.push_back(FreePort(kPortsBelow));
      addresses_.push_back(absl::StrCat("127.0.0.1:", ports_.back()));
    }
    ok_ = Start(options);
  }
}

void RedisNodes::Stop() {
  for (pid_t pid : pids_) kill(pid, SIGKILL);
  for (pid_t pid : pids_) waitpid(pid, nullptr, 0);
  pids_.clear();
  ports_.clear();
  addresses_.clear();
}

RedisNodes::~RedisNodes() {
  Stop();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

RedisNodes& RedisNodes::Shared() {
  static std::unique_ptr<RedisNodes> nodes;
  const auto is_empty = [] {
    for (size_t i = 0; i < nodes->ports_.size(); ++i) {
      if (nodes->Command(static_cast<int>(i), "flushall") != "OK") return false;
    }
    return true;
  };
  if (nodes == nullptr || !nodes->ok() || !nodes->as_started_ || !is_empty()) nodes = std::make_unique<RedisNodes>(3);
  return *nodes;
}

void RedisNodes::Signal(int index, int signal) const {
  as_started_ = false;
  kill(pids_[index], signal);
}

std::string RedisNodes::Command(int index, const std::string& command) const {
  if (absl::StrContains(command, "config set")) as_started_ = false;
  return Output(absl::StrCat(Client(index), " ", command, " 2>&1"));
}

std::string RedisNodes::Client(int index) const {
  const std::string client = absl::StrCat("redis-cli -p ", ports_[index]);
  if (tls_.ca.empty()) return client;
  return absl::StrCat(client, " --tls --cacert ", tls_.ca, " --cert ", tls_.certificate, " --key ", tls_.key);
}

bool RedisNodes::AwaitAll(const std::string& command, const std::string& expected) const {
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  for (size_t i = 0; i < ports_.size();) {
    if (absl::StrContains(Command(static_cast<int>(i), command), expected)) {
      ++i;
    } else if (absl::Now() > give_up) {
      return false;
    } else {
      absl::SleepFor(absl::Milliseconds(50));
    }
  }
  return true;
}

bool RedisNodes::Start(const std::vector<std::string>& options) {
  const bool cluster = ports_.size() > 1;
  for (int port : ports_) {
    const std::string folder = absl::StrCat(folder_, "/", port);
    std::filesystem::create_directory(folder);
    std::vector<std::string> command = {"redis-server",
                                        tls_.ca.empty() ? "--port" : "--tls-port",
                                        absl::StrCat(port),
                                        "--bind",
                                        "127.0.0.1",
                                        "--dir",
                                        folder,
                                        "--save",
                                        "",
                                        "--logfile",
                                        "log",
                                        "--cluster-enabled",
                                        cluster ? "yes" : "no",
                                        "--cluster-node-timeout",
                                        "1000"};
    if (!tls_.ca.empty()) {
      const std::string files[] = {"--port",
                                   "0",
                                   "--tls-cluster",
                                   "yes",
                                   "--tls-replication",
                                   "yes",
                                   "--tls-ca-cert-file",
                                   tls_.ca,
                                   "--tls-cert-file",
                                   tls_.certificate,
                                   "--tls-key-file",
                                   tls_.key};
      command.insert(command.end(), std::begin(files), std::end(files));
    }
    command.insert(command.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    if (posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return false;
    pids_.push_back(pid);
  }
  if (!AwaitAll("ping", "PONG")) return false;
  for (size_t i = 0; i < ports_.size(); ++i) {
    const std::string mine = absl::StrCat("process_id:", pids_[i], "\r");
    if (!absl::StrContains(Command(static_cast<int>(i), "info server"), mine)) return false;  // It is somebody else's.
  }
  if (!cluster) return true;
  std::string create = "--cluster create";
  for (const std::string& address : addresses_) absl::StrAppend(&create, " ", address);
  absl::StrAppend(&create, " --cluster-replicas ", replicas_);
  // It waits for ever for nodes that do not find each other.
  const std::string created = Output(absl::StrCat("timeout 20 ", Client(0), " ", create, " --cluster-yes 2>&1"));
  if (!absl::StrContains(created, "All 16384 slots covered")) {
    fprintf(stderr, "%s\n", created.c_str());
    return false;
  }
  return AwaitAll("cluster info", "cluster_state:ok");
}

}  // namespace tritond::tests
