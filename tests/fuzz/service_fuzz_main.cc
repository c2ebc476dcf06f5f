// SPDX-License-Identifier: Apache-2.0
// Broken messages and records for the service:
//
//   service-fuzz [--seconds S] [--seed N] [--target NAME] [--keep DIR] [FILE…]
//
// Runs each target on its sound inputs and on changed ones, for S seconds each; a FILE alone is run once, as it is. The
// input that ended the process is in DIR then, its name begins with the target's.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "google/protobuf/stubs/logging.h"
#include "tests/fuzz/service_targets.h"

namespace tritond::tests {
namespace {

// What is being run, for the handler of a deadly signal.
const std::string* running = nullptr;
char running_path[512];

void KeepInput(int signal) {
  if (running != nullptr && running_path[0] != 0) {
    const int fd = open(running_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write(fd, running->data(), running->size()) >= 0) close(fd);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// One to five changes: bits, bytes, cuts, repetitions, pieces of other inputs, numbers at the edges.
std::string Changed(std::string bytes, const std::vector<std::string>& pool, std::mt19937_64& random) {
  static constexpr unsigned char kEdges[] = {0, 1, 0x7f, 0x80, 0xff};
  const auto below = [&](size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (uint64_t i = 0, count = 1 + below(5); i < count; ++i) {
    const size_t at = below(bytes.size());
    switch (below(8)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(kEdges[below(std::size(kEdges))]);
        break;
      case 2:
        bytes.insert(at, 1 + below(8), static_cast<char>(random()));
        break;
      case 3:
        bytes.erase(at, 1 + below(8));
        break;
      case 4:
        bytes.resize(at);
        break;
      case 5:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
        break;
      case 6: {
        const std::string& other = pool[below(pool.size())];
        const size_t from = below(other.size());
        bytes.replace(at, below(32), other.substr(from, below(64)));
        break;
      }
      default:  // A long varint: lengths and numbers of the wire format.
        bytes.insert(at, std::string(1 + below(9), '\xff') + '\x01');
    }
    if (bytes.size() > 1 << 16) bytes.resize(1 << 16);
  }
  return bytes;
}

void RunOne(const ServiceTarget& target, const std::string& bytes, const std::string& keep) {
  running = &bytes;
  if (!keep.empty()) snprintf(running_path, sizeof(running_path), "%s/%s.bin", keep.c_str(), target.name.c_str());
  target.run(bytes);
  running = nullptr;
}

void Fuzz(const ServiceTarget& target, double seconds, uint64_t seed, const std::string& keep) {
  std::mt19937_64 random(seed);
  std::vector<std::string> pool = target.seeds;
  for (const std::string& bytes : target.seeds) RunOne(target, bytes, keep);
  uint64_t inputs = 0;
  for (const absl::Time end = absl::Now() + absl::Seconds(seconds); absl::Now() < end; ++inputs) {
    std::string bytes = Changed(pool[random() % pool.size()], pool, random);
    RunOne(target, bytes, keep);
    // Changes of changes, in moderation.
    if (random() % 8 == 0) {
      if (pool.size() < 256)
        pool.push_back(std::move(bytes));
      else
        pool[target.seeds.size() + random() % (pool.size() - target.seeds.size())] = std::move(bytes);
    }
  }
  printf("%s: %llu inputs\n", target.name.c_str(), static_cast<unsigned long long>(inputs));
  fflush(stdout);
}

int Main(int argc, char** argv) {
  double seconds = 1;
  uint64_t seed = 1;
  std::string only, keep;
  std::vector<std::string> files;
  CLI::App app("Broken messages and records for the service.");
  app.add_option("--seconds", seconds, "For each target")->capture_default_str();
  app.add_option("--seed", seed)->capture_default_str();
  app.add_option("--target", only, "This one alone");
  app.add_option("--keep", keep, "Folder for the input that ended the process");
  app.add_option("FILE", files, "Inputs to run once; a name begins with its target's");
  CLI11_PARSE(app, argc, argv);
  std::error_code error;
  if (!keep.empty()) std::filesystem::create_directories(keep, error);
  for (int deadly : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(deadly, KeepInput);
  for (const ServiceTarget& target : ServiceTargets()) {
    if (!only.empty() && target.name != only) continue;
    for (const std::string& path : files) {
      if (!absl::StartsWith(std::filesystem::path(path).filename().string(), target.name)) continue;
      std::ifstream file(path, std::ios::binary);
      RunOne(target, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, keep);
    }
    if (files.empty()) Fuzz(target, seconds, seed, keep);
  }
  fflush(stdout);
  _exit(0);  // gRPC's threads go with the process.
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  google::protobuf::SetLogHandler(nullptr);  // A line for each broken message.
  return tritond::tests::Main(argc, argv);
}
