// SPDX-License-Identifier: Apache-2.0
// What a miss costs besides the compile itself:
//
//   miss_benchmark [--seconds S] [--check]
//
// Starts tritond (the real program) with a fake worker that compiles in no time. Asks it for kernels that nobody has
// asked for before, one after the other. What that takes is the daemon's, the transport's and the worker's protocol's
// share of every cold compile, results on disk included. For each transport and size of binary it prints the median, 99
// of 100 and the daemon's processor time a call. With --check the exit status is 1 when a median is over budget.
#include <grpcpp/grpcpp.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/v1/compile.grpc.pb.h"
#include "tests/support/program.h"

namespace tritond::tests {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr double kBudgetSeconds = 0.005;
constexpr size_t kBudgetBytes = 64 << 10;
constexpr size_t kIrBytes = 16 << 10;

void Compile(v1::CompileService::Stub& stub, uint64_t number, size_t binary_bytes) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(absl::StrCat("module {} kernel ", number, " of ", binary_bytes, " ", std::string(kIrBytes, '.')));
  (*request.mutable_options()->mutable_fields())["artifact_bytes"].set_number_value(static_cast<double>(binary_bytes));
  v1::CompileResponse response;
  const grpc::Status status = stub.Compile(&context, request, &response);
  if (status.ok() && response.cache() == v1::CACHE_STATUS_MISS) return;
  fprintf(stderr, "not compiled: %s\n", status.error_message().c_str());
  exit(2);
}

// Prints one line of the table; whether it is within the budget.
bool Measure(const std::string& transport, const std::string& address, pid_t daemon, size_t size, double seconds) {
  constexpr uint64_t kWarmUp = 50;
  auto stub = v1::CompileService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  static uint64_t number = 0;
  for (uint64_t i = 0; i < kWarmUp; ++i) Compile(*stub, ++number, size);
  std::vector<double> times;
  const double processor_before = ProcessorSecondsOf(daemon);
  for (const auto end = Clock::now() + Seconds(seconds); Clock::now() < end;) {
    const auto before = Clock::now();
    Compile(*stub, ++number, size);
    times.push_back(Seconds(Clock::now() - before).count());
  }
  const double processor = (ProcessorSecondsOf(daemon) - processor_before) / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const bool within = size > kBudgetBytes || median <= kBudgetSeconds;
  printf("| %-4s | %7zu | %6zu | %7.2f | %9.2f | %10.2f |%s\n", transport.c_str(), size, times.size(), median * 1e3,
         times[times.size() * 99 / 100] * 1e3, processor * 1e3, within ? "" : " over budget");
  fflush(stdout);
  return within;
}

int Main(double seconds, bool check) {
  std::string folder = (std::filesystem::temp_directory_path() / "tritond-misses-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 2;
  const std::string tcp = absl::StrCat("127.0.0.1:", FreePort()), local = "unix:" + folder + "/socket";
  bool within = true;
  {
    Program daemon({TRITOND_PROGRAM, "--data-dir", folder + "/data", "--listen", tcp, "--listen", local, "--http",
                    "none", "--workers", "1", "--worker-binary", TRITOND_FAKE_WORKER});
    printf("|      |   bytes | misses | median, ms | 99 of 100, ms | daemon, ms |\n");
    for (const auto& [name, address] : {std::pair(std::string("unix"), local), {"tcp", tcp}}) {
      for (size_t size : {size_t{4} << 10, size_t{64} << 10, size_t{1} << 20})
        within = Measure(name, address, daemon.pid(), size, seconds) && within;
    }
  }
  std::filesystem::remove_all(folder);
  return within || !check ? 0 : 1;
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  double seconds = 2;
  bool check = false;
  CLI::App app("What a miss costs besides the compile itself.");
  app.add_option("--seconds", seconds, "Of each line")->capture_default_str();
  app.add_flag("--check", check, "End with 1 when a median is over 5 ms");
  CLI11_PARSE(app, argc, argv);
  return tritond::tests::Main(seconds, check);
}
