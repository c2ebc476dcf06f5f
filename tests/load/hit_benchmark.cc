// SPDX-License-Identifier: Apache-2.0
// How long a hit takes, beside a bare gRPC method that returns a constant of the same size:
//
//   hit_benchmark [--seconds S] [--check]
//
// Starts tritond (the real program, with a fake worker) and a bare server as processes of their own. For each transport
// and size it prints the latency of one client, median and 99 of 100, and the rate of eight clients. Both stand beside
// the bare method's, measured in turns. With --check the exit status is 1 when a hit is over budget. Over a Unix socket
// and TCP the median may be at most 1.25 times the bare method's. Up to 4 KiB, the rate there must also be at least
// 0.75 times the bare method's. The last columns are the processor time that each server takes for a call.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/v1/compile.grpc.pb.h"
#include "tests/load/bare_server.h"
#include "tests/support/certificates.h"
#include "tests/support/program.h"

namespace tritond::tests {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr double kLatencyBudget = 1.25;
constexpr double kRateBudget = 0.75;
constexpr size_t kRateBudgetBytes = 4 << 10;
constexpr int kClients = 8;
constexpr int kIterations = 4;  // of measuring both rates, in turns

struct Transport {
  std::string name, bare, daemon;
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // Shared with the channels.
  bool budgeted = true;
  pid_t bare_pid = 0, daemon_pid = 0;
};

std::shared_ptr<grpc::Channel> Dial(const Transport& transport, const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, transport.credentials, arguments);
}

[[noreturn]] void Fail(const std::string& what, const grpc::Status& status) {
  fprintf(stderr, "%s: %s\n", what.c_str(), status.error_message().c_str());
  exit(2);
}

void Call(v1::CompileService::Stub& stub, const std::string& key) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::LookupRequest request;
  request.set_key(key);
  v1::CompileResponse response;
  const grpc::Status status = stub.Lookup(&context, request, &response);
  if (!status.ok() || response.blobs_size() != 1) Fail("a look-up failed", status);
}

struct Times {
  double median = 0, p99 = 0;
};

Times Summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

// Takes turns, so that whatever else the machine does hits both alike.
std::pair<Times, Times> Latencies(v1::CompileService::Stub& bare, const std::string& bare_key,
                                  v1::CompileService::Stub& hit, const std::string& hit_key, double seconds) {
  constexpr int kWarmUp = 100;
  std::vector<double> times[2];
  const auto end = Clock::now() + Seconds(seconds);
  for (int i = 0; i < 2 * kWarmUp || Clock::now() < end; ++i) {
    for (int which : {i % 2, 1 - i % 2}) {
      const auto before = Clock::now();
      Call(which == 0 ? bare : hit, which == 0 ? bare_key : hit_key);
      if (i >= kWarmUp) times[which].push_back(Seconds(Clock::now() - before).count());
    }
  }
  return {Summarise(std::move(times[0])), Summarise(std::move(times[1]))};
}

struct Load {
  double calls = 0, seconds = 0, processor_seconds = 0;
  void Add(const Load& other) {
    calls += other.calls;
    seconds += other.seconds;
    processor_seconds += other.processor_seconds;
  }
  double Rate() const { return calls / seconds; }
  double ProcessorMicroseconds() const { return processor_seconds / calls * 1e6; }
};

// Eight clients, each as fast as it can; `pid` is the server.
Load RunLoad(const Transport& transport, const std::string& address, pid_t pid, const std::string& key,
             double seconds) {
  std::atomic<uint64_t> calls{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      auto stub = v1::CompileService::NewStub(Dial(transport, address));
      while (!stop) {
        Call(*stub, key);
        ++calls;
      }
    });
  }
  std::this_thread::sleep_for(Seconds(0.2));
  const uint64_t before = calls;
  const double processor_before = ProcessorSecondsOf(pid);
  const auto begin = Clock::now();
  std::this_thread::sleep_for(Seconds(seconds));
  const Load load{static_cast<double>(calls - before), Seconds(Clock::now() - begin).count(),
                  ProcessorSecondsOf(pid) - processor_before};
  stop = true;
  for (std::thread& client : clients) client.join();
  return load;
}

// Stores a result with a binary of this size; returns its key.
std::string Store(v1::CompileService::Stub& stub, size_t size) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(absl::StrCat("module {} ", size));
  (*request.mutable_options()->mutable_fields())["artifact_bytes"].set_number_value(static_cast<double>(size));
  v1::CompileResponse response;
  const grpc::Status status = stub.Compile(&context, request, &response);
  if (!status.ok()) Fail("cannot store", status);
  return response.key();
}

// Prints one line of the table; whether it is within the budget.
bool Measure(const Transport& transport, size_t index, size_t size, double seconds) {
  auto bare = v1::CompileService::NewStub(Dial(transport, transport.bare));
  auto daemon = v1::CompileService::NewStub(Dial(transport, transport.daemon));
  const std::string bare_key(index, 'k'), key = Store(*daemon, size);
  const auto [bare_times, hit_times] = Latencies(*bare, bare_key, *daemon, key, seconds);
  Load bare_load, hit_load;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double share = seconds / 2 / kIterations;
    bare_load.Add(RunLoad(transport, transport.bare, transport.bare_pid, bare_key, share));
    hit_load.Add(RunLoad(transport, transport.daemon, transport.daemon_pid, key, share));
  }
  const double latency = hit_times.median / bare_times.median, rate = hit_load.Rate() / bare_load.Rate();
  const bool slow = transport.budgeted && latency > kLatencyBudget;
  const bool few = transport.budgeted && size <= kRateBudgetBytes && rate < kRateBudget;
  printf("| %-4s | %7zu | %7.1f | %7.1f | %4.2f | %7.1f | %7.1f | %6.0f | %6.0f | %4.2f | %6.1f | %6.1f |%s%s\n",
         transport.name.c_str(), size, bare_times.median * 1e6, hit_times.median * 1e6, latency, bare_times.p99 * 1e6,
         hit_times.p99 * 1e6, bare_load.Rate(), hit_load.Rate(), rate, bare_load.ProcessorMicroseconds(),
         hit_load.ProcessorMicroseconds(), slow ? " latency over budget" : "", few ? " rate under budget" : "");
  fflush(stdout);
  return !slow && !few;
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

int Main(double seconds, bool check) {
  const std::vector<size_t> sizes{1 << 10, 4 << 10, 64 << 10, 1 << 20};
  std::string folder = (std::filesystem::temp_directory_path() / "tritond-hits-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 2;
  const CertificateAuthority authority("load");
  const KeyPair server = authority.Issue("server"), client = authority.Issue("client");
  Write(folder + "/ca.pem", authority.certificate());
  Write(folder + "/server.pem", server.certificate);
  Write(folder + "/server.key", server.key);
  const auto local = [](int port) { return absl::StrCat("127.0.0.1:", port); };
  BareServer bare;
  bare.addresses = {"unix:" + folder + "/bare", local(FreePort())};
  bare.tls_address = local(FreePort());
  bare.certificate = server.certificate;
  bare.key = server.key;
  bare.client_ca = authority.certificate();
  const pid_t bare_pid = fork();  // Before gRPC starts any thread.
  if (bare_pid == 0) ServeBare(bare, sizes);

  // One daemon for plain connections, one for TLS, each with one worker.
  const std::string plain = local(FreePort()), secured = local(FreePort());
  const auto words = [&](const std::string& name, const std::string& address) {
    return std::vector<std::string>{
        TRITOND_PROGRAM, "--data-dir", folder + "/" + name, "--listen",         address, "--http", "none",
        "--workers",     "1",          "--worker-binary",   TRITOND_FAKE_WORKER};
  };
  std::vector<std::string> tls_words = words("tls", secured);
  tls_words.insert(tls_words.end(), {"--tls-certificate", folder + "/server.pem", "--tls-key", folder + "/server.key",
                                     "--tls-client-ca", folder + "/ca.pem"});
  std::vector<std::string> plain_words = words("plain", plain);
  plain_words.insert(plain_words.end(), {"--listen", "unix:" + folder + "/daemon"});
  bool within = true;
  {
    Program plain_daemon(plain_words), tls_daemon(tls_words);
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = authority.certificate();
    ssl.pem_cert_chain = client.certificate;
    ssl.pem_private_key = client.key;
    const pid_t plain_pid = plain_daemon.pid();
    const std::vector<Transport> transports{
        {"unix", bare.addresses[0], "unix:" + folder + "/daemon", grpc::InsecureChannelCredentials(), true, bare_pid,
         plain_pid},
        {"tcp", bare.addresses[1], plain, grpc::InsecureChannelCredentials(), true, bare_pid, plain_pid},
        {"mtls", bare.tls_address, secured, grpc::SslCredentials(ssl), false, bare_pid, tls_daemon.pid()}};
    printf(
        "|      |         | median, us       |      | 99 of 100, us     | calls a second of %d clients | server, us    "
        " |\n",
        kClients);
    printf(
        "|      |   bytes |    bare |     hit |ratio |    bare |     hit |   bare |    hit | ratio|   bare |    hit "
        "|\n");
    for (const Transport& transport : transports) {
      for (size_t i = 0; i < sizes.size(); ++i) within = Measure(transport, i, sizes[i], seconds) && within;
    }
  }
  kill(bare_pid, SIGKILL);
  std::filesystem::remove_all(folder);
  return within || !check ? 0 : 1;
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  double seconds = 2;
  bool check = false;
  CLI::App app("Hits beside a bare gRPC method.");
  app.add_option("--seconds", seconds, "Of each of the two measurements of a line")->capture_default_str();
  app.add_flag("--check", check, "End with 1 when a hit is over budget");
  CLI11_PARSE(app, argc, argv);
  return tritond::tests::Main(seconds, check);
}
