// SPDX-License-Identifier: Apache-2.0
// A worker that says anything: its stream goes through a real gRPC server in this process.
#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <set>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "proto/v1/worker.grpc.pb.h"
#include "tests/fuzz/service_targets.h"
#include "workers/pool/worker_pool.h"

namespace tritond::tests {
namespace {

// Gives each worker two leases, and watches what the pool makes of what it says.
class StrictListener final : public workers::PoolListener {
 public:
  void OnAttached(const std::string& worker, const v1::Hello&) override {
    {
      absl::MutexLock lock(&mu_);
      Require(open_.emplace(worker, std::set<uint64_t>{1, 2}).second, "a worker attaches once");
    }
    for (uint64_t id : {1, 2}) {
      v1::Lease lease;
      lease.set_id(id);
      lease.mutable_compile()->set_target("cuda:90");
      pool->Start(worker, std::move(lease), absl::InfiniteFuture());
    }
  }
  void OnProgress(const std::string& worker, uint64_t lease, v1::Stage) override {
    absl::MutexLock lock(&mu_);
    Require(open_.count(worker) == 1 && open_[worker].count(lease) == 1, "progress is of a lease that is held");
  }
  void OnQuery(const std::string& worker, v1::StepQuery query) override {
    {
      absl::MutexLock lock(&mu_);
      Require(open_.count(worker) == 1 && open_[worker].count(query.lease()) == 1,
              "a query is of a lease that is held");
    }
    v1::StepAnswer answer;
    answer.set_lease(query.lease());
    pool->Answer(worker, std::move(answer));
  }
  void OnOutcome(const std::string& worker, v1::CompileOutcome outcome) override {
    absl::MutexLock lock(&mu_);
    Require(open_.count(worker) == 1 && open_[worker].erase(outcome.lease()) == 1, "a lease has one outcome");
  }
  void OnRetire(const std::string& worker) override {
    absl::MutexLock lock(&mu_);
    Require(open_.count(worker) == 1, "one that retires is attached");
  }
  void OnEnded(const std::string& worker, const workers::WorkerEnd&) override {
    absl::MutexLock lock(&mu_);
    Require(open_.erase(worker) == 1, "a worker ends once");
  }

  void OnKilled(uint64_t, const std::string&) override {}
  void OnFailedStart() override {}

  workers::WorkerPool* pool = nullptr;

 private:
  absl::Mutex mu_;
  std::map<std::string, std::set<uint64_t>> open_ ABSL_GUARDED_BY(mu_);
};

// One for the process; it ends with it.
struct PoolServer {
  PoolServer() {
    workers::PoolConfig config;
    pool = std::make_unique<workers::WorkerPool>(
        config, [] { return absl::Now(); }, [](const std::string&) {}, listener);
    listener.pool = pool.get();
    pool->StartChildren();
    // A real socket: the in-process channel of gRPC 1.51 keeps some memory of each stream.
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(pool.get());
    server = builder.BuildAndStart();
    stub = v1::WorkerService::NewStub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  StrictListener listener;
  std::unique_ptr<workers::WorkerPool> pool;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<v1::WorkerService::Stub> stub;
};

void RunWorker(const std::string& bytes) {
  static PoolServer* pool = new PoolServer();  // Not deleted: gRPC's threads use it to the end of the process.
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
  auto stream = pool->stub->Attach(&context);
  for (size_t at = 0; at + 2 <= bytes.size();) {
    const size_t size = static_cast<unsigned char>(bytes[at]) << 8 | static_cast<unsigned char>(bytes[at + 1]);
    v1::WorkerMessage message;
    static_cast<void>(message.ParseFromString(bytes.substr(at + 2, size)));
    if (!stream->Write(message)) break;
    at += 2 + size;
  }
  stream->WritesDone();
  v1::DaemonMessage reply;
  while (stream->Read(&reply)) {
  }
  Require(stream->Finish().error_code() != grpc::StatusCode::DEADLINE_EXCEEDED,
          "a worker's stream ends when it hangs up");
  pool->pool->List();
  pool->pool->Tick();
}

std::string Framed(const std::vector<v1::WorkerMessage>& messages) {
  std::string input;
  for (const v1::WorkerMessage& message : messages) {
    const std::string bytes = message.SerializeAsString();
    input.push_back(static_cast<char>(bytes.size() >> 8));
    input.push_back(static_cast<char>(bytes.size()));
    input += bytes;
  }
  return input;
}

}  // namespace

ServiceTarget WorkerTarget() {
  v1::WorkerMessage hello, heartbeat, progress, outcome, second, log, retire;
  hello.mutable_hello()->set_name("worker");
  hello.mutable_hello()->set_build_id("build");
  hello.mutable_hello()->set_slots(2);
  hello.mutable_hello()->set_pid(1);
  auto& target = *hello.mutable_hello()->add_targets();
  target.set_name("cuda:90");
  target.set_binary_available(true);
  heartbeat.mutable_heartbeat()->set_resident_bytes(1 << 20);
  progress.mutable_progress()->set_lease(1);
  progress.mutable_progress()->set_stage(v1::STAGE_ASM);
  outcome.mutable_compiled()->set_lease(1);
  outcome.mutable_compiled()->mutable_result()->set_metadata_json("{}");
  outcome.mutable_compiled()->add_blobs()->set_data("binary");
  second = outcome;
  second.mutable_compiled()->set_lease(2);
  second.mutable_compiled()->set_code(3);
  log.mutable_log()->set_text("says");
  retire.mutable_retire();
  v1::WorkerMessage query;
  query.mutable_query()->set_lease(1);
  query.mutable_query()->mutable_keys()->set_semantic_key(std::string(64, 'a'));
  return {"worker",
          {Framed({hello, heartbeat, progress, query, outcome, log, retire, second}), Framed({progress})},
          RunWorker};
}

}  // namespace tritond::tests
