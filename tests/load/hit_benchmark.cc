// SPDX-License-Identifier: Apache-2.0
// How long a hit takes, beside a bare gRPC method that returns a constant of the same size:
//
//   hit_benchmark [SECONDS_PER_MEASUREMENT]
//
// Starts tritond (the real program, with a fake worker) and a bare server as processes of their own, and prints for
// each size and transport the median latency of one client, then the rate of eight clients. Exits with 1 when a hit is
// slower than the budget allows: median at most 1.25 times, rate at least 0.75 times the bare method's.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "proto/v1/compile.grpc.pb.h"

namespace {

using tritond::v1::CompileRequest;
using tritond::v1::CompileResponse;
using tritond::v1::CompileService;
using tritond::v1::LookupRequest;
using Seconds = std::chrono::duration<double>;

constexpr double kLatencyBudget = 1.25;
constexpr double kRateBudget = 0.75;
constexpr int kClients = 8;

// Answers Lookup with a constant whose size the key says, and nothing else.
class BareService final : public CompileService::WithRawCallbackMethod_Lookup<CompileService::Service> {
 public:
  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    const size_t index = request->Length() - 2;  // The key is as long as the index of the size.
    *response = constants_[index < constants_.size() ? index : 0];
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  void Add(const grpc::Slice& constant) { constants_.emplace_back(&constant, 1); }

 private:
  std::vector<grpc::ByteBuffer> constants_;
};

// Has the fields of a real answer, so that the client's share of the work is the same.
CompileResponse Constant(size_t size) {
  CompileResponse response;
  response.set_key(std::string(64, 'f'));
  response.set_cache(tritond::v1::CACHE_STATUS_HIT);
  auto& result = *response.mutable_result();
  auto& artifact = *result.add_artifacts();
  artifact.set_kind(tritond::v1::STAGE_BINARY);
  artifact.set_format("cubin");
  artifact.set_digest(std::string(64, 'd'));
  artifact.set_size_bytes(size);
  result.set_metadata_json(R"({"artifact_bytes":1024,"name":"kernel","shared":1024,"target":"cuda:90"})");
  for (int stage = 1; stage <= 5; ++stage) {
    auto& time = *result.add_stage_times();
    time.set_stage(static_cast<tritond::v1::Stage>(stage));
    time.set_wall_ns(10000);
  }
  result.set_cost_cpu_seconds(0.001);
  result.set_worker("host/12345");
  result.set_build_id("fake-build triton-worker-fake");
  result.mutable_created()->set_seconds(1700000000);
  result.mutable_created()->set_nanos(123456789);
  result.set_target("cuda:90");
  auto& blob = *response.add_blobs();
  blob.set_digest(artifact.digest());
  blob.set_data(std::string(size, 'x'));
  return response;
}

[[noreturn]] void ServeBare(const std::string& folder, const std::vector<size_t>& sizes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  BareService service;
  for (size_t size : sizes) {
    const CompileResponse response = Constant(size);
    service.Add(grpc::Slice(response.SerializeAsString()));
  }
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("unix:" + folder + "/bare", grpc::InsecureServerCredentials());
  builder.AddListeningPort("127.0.0.1:17543", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  server->Wait();
  _exit(0);
}

pid_t StartDaemon(const std::string& folder) {
  std::vector<std::string> words{TRITOND_PROGRAM,
                                 "--data-dir",
                                 folder + "/data",
                                 "--listen",
                                 "127.0.0.1:17544",
                                 "--listen",
                                 "unix:" + folder + "/daemon",
                                 "--http",
                                 "none",
                                 "--workers",
                                 "1",
                                 "--worker-binary",
                                 TRITOND_FAKE_WORKER};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) exit(1);
  return pid;
}

std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void Call(CompileService::Stub& stub, const std::string& key) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  LookupRequest request;
  request.set_key(key);
  CompileResponse response;
  const grpc::Status status = stub.Lookup(&context, request, &response);
  if (status.ok() && response.blobs_size() == 1) return;
  fprintf(stderr, "a look-up failed: %s\n", status.error_message().c_str());
  exit(1);
}

// Takes turns, so that whatever else the machine does hits both alike.
std::pair<double, double> Medians(CompileService::Stub& bare, const std::string& bare_key, CompileService::Stub& hit,
                                  const std::string& hit_key, double seconds) {
  std::vector<double> times[2];
  const auto end = std::chrono::steady_clock::now() + Seconds(seconds);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    for (int which : {0, 1}) {
      const auto before = std::chrono::steady_clock::now();
      Call(which == 0 ? bare : hit, which == 0 ? bare_key : hit_key);
      if (i >= 100) times[which].push_back(Seconds(std::chrono::steady_clock::now() - before).count());
    }
  }
  for (auto& list : times) std::nth_element(list.begin(), list.begin() + list.size() / 2, list.end());
  return {times[0][times[0].size() / 2], times[1][times[1].size() / 2]};
}

double Rate(const std::string& address, const std::string& key, double seconds) {
  std::atomic<uint64_t> calls{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      auto stub = CompileService::NewStub(Dial(address));
      while (!stop) {
        Call(*stub, key);
        ++calls;
      }
    });
  }
  std::this_thread::sleep_for(Seconds(0.3));
  const uint64_t before = calls;
  std::this_thread::sleep_for(Seconds(seconds));
  const uint64_t after = calls;
  stop = true;
  for (std::thread& client : clients) client.join();
  return static_cast<double>(after - before) / seconds;
}

// Stores a result with a binary of this size; returns its key.
std::string Store(CompileService::Stub& stub, size_t size) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir("module {} // " + std::to_string(size));
  (*request.mutable_options()->mutable_fields())["artifact_bytes"].set_number_value(static_cast<double>(size));
  CompileResponse response;
  const grpc::Status status = stub.Compile(&context, request, &response);
  if (status.ok()) return response.key();
  fprintf(stderr, "cannot store: %s\n", status.error_message().c_str());
  exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 2;
  const std::vector<size_t> sizes{1 << 10, 4 << 10, 64 << 10, 1 << 20};
  std::string folder = "/tmp/tritond-hits-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const pid_t bare_pid = fork();  // Before gRPC starts any thread.
  if (bare_pid == 0) ServeBare(folder, sizes);
  const pid_t daemon_pid = StartDaemon(folder);

  bool within = true;
  const std::string transports[][3] = {{"unix", "unix:" + folder + "/bare", "unix:" + folder + "/daemon"},
                                       {"tcp", "127.0.0.1:17543", "127.0.0.1:17544"}};
  for (const auto& [name, bare_address, daemon_address] : transports) {
    auto bare = CompileService::NewStub(Dial(bare_address));
    auto daemon = CompileService::NewStub(Dial(daemon_address));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string bare_key(i, 'k');
      const std::string key = Store(*daemon, sizes[i]);
      const auto [bare_median, hit_median] = Medians(*bare, bare_key, *daemon, key, seconds);
      const bool good = hit_median <= kLatencyBudget * bare_median;
      printf("%-4s %8zu bytes: bare %7.1f us, hit %7.1f us, ratio %.2f%s\n", name.c_str(), sizes[i], bare_median * 1e6,
             hit_median * 1e6, hit_median / bare_median, good ? "" : "  over budget");
      within = within && good;
    }
    for (size_t i = 0; i < 2; ++i) {
      const double bare_rate = Rate(bare_address, std::string(i, 'k'), seconds);
      const double hit_rate = Rate(daemon_address, Store(*daemon, sizes[i]), seconds);
      const bool good = hit_rate >= kRateBudget * bare_rate;
      printf("%-4s %8zu bytes, %d clients: bare %8.0f/s, hit %8.0f/s, ratio %.2f%s\n", name.c_str(), sizes[i], kClients,
             bare_rate, hit_rate, hit_rate / bare_rate, good ? "" : "  under budget");
      within = within && good;
    }
  }
  kill(bare_pid, SIGKILL);
  kill(daemon_pid, SIGTERM);
  waitpid(bare_pid, nullptr, 0);
  waitpid(daemon_pid, nullptr, 0);
  std::filesystem::remove_all(folder);
  return within ? 0 : 1;
}
