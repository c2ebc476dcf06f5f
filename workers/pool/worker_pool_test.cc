// SPDX-License-Identifier: Apache-2.0
// Workers of other machines that vanish, and what their supervisors say of that.
#include "workers/pool/worker_pool.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

namespace tritond::workers {
namespace {

// Gives each worker the lease of its number, and keeps what it hears.
class Listener final : public PoolListener {
 public:
  void OnAttached(const std::string& worker, const v1::Hello&) override {
    Note(absl::StrCat("attached ", worker));
    v1::Lease lease;
    lease.set_id(std::stoull(worker.substr(1)));
    lease.mutable_compile()->set_target("cuda:90");
    pool->Start(worker, lease, absl::InfiniteFuture());
  }
  void OnProgress(const std::string&, uint64_t, v1::Stage) override {}
  void OnQuery(const std::string&, v1::StepQuery) override {}
  void OnOutcome(const std::string&, v1::CompileOutcome) override {}
  void OnRetire(const std::string&) override {}
  void OnEnded(const std::string& worker, const WorkerEnd&) override { Note(absl::StrCat("ended ", worker)); }
  void OnKilled(uint64_t lease, const std::string& report) override {
    Note(absl::StrCat("killed under ", lease, ": ", report.substr(0, report.find(" of "))));
  }
  void OnFailedStart() override {}

  // What it has heard once there is so much of it.
  std::string Await(size_t count) {
    auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return heard_.size() >= count; };
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30));
    return absl::StrJoin(heard_, "; ");
  }

  WorkerPool* pool = nullptr;

 private:
  void Note(const std::string& what) {
    absl::MutexLock lock(&mu_);
    heard_.push_back(what);
  }
  absl::Mutex mu_;
  std::vector<std::string> heard_ ABSL_GUARDED_BY(mu_);
};

class WorkerPoolTest : public testing::Test {
 protected:
  // One process of a supervisor, with its stream.
  struct Process {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::DaemonMessage>> stream;
  };

  WorkerPoolTest() {
    listener_.pool = &pool_;
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&pool_);
    server_ = builder.BuildAndStart();
    stub_ = v1::WorkerService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }
  ~WorkerPoolTest() override { server_->Shutdown(); }

  // Attaches; returns with its lease in hand. `killed`: the lease under which the process before it died of signal 6.
  std::unique_ptr<Process> Attach(const std::string& supervisor, uint64_t killed = 0) {
    auto process = std::make_unique<Process>();
    process->stream = stub_->Attach(&process->context);
    v1::WorkerMessage message;
    message.mutable_hello()->set_supervisor(supervisor);
    if (killed != 0) {
      message.mutable_hello()->mutable_last_end()->add_leases(killed);
      message.mutable_hello()->mutable_last_end()->set_signal(6);
    }
    process->stream->Write(message);
    v1::DaemonMessage reply;
    while (process->stream->Read(&reply) && !reply.has_lease()) {
    }
    return process;
  }
  // As the kernel does for a process that dies.
  static void Break(std::unique_ptr<Process> process) {
    process->context.TryCancel();
    process->stream->Finish();
  }
  void Answer(Process* process, uint64_t lease) {
    v1::WorkerMessage message;
    message.mutable_compiled()->set_lease(lease);
    process->stream->Write(message);
  }

  std::atomic<int64_t> minutes_{0};
  Listener listener_;
  WorkerPool pool_{
      {}, [this] { return absl::UnixEpoch() + absl::Minutes(minutes_.load()); }, [](const std::string&) {}, listener_};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
};

TEST_F(WorkerPoolTest, ASupervisorTellsHowTheProcessBeforeEnded) {
  Break(Attach("mine"));
  listener_.Await(2);
  auto next = Attach("mine", /*killed=*/1);
  EXPECT_EQ(listener_.Await(4), "attached w1; ended w1; killed under 1: signal 6 (Aborted); attached w2");
  Break(std::move(next));
  listener_.Await(5);
  Break(Attach("mine", /*killed=*/2));
  EXPECT_EQ(listener_.Await(8),
            "attached w1; ended w1; killed under 1: signal 6 (Aborted); attached w2; ended w2; "
            "killed under 2: signal 6 (Aborted); attached w3; ended w3");
}

TEST_F(WorkerPoolTest, AKillIsReportedOnceAndByItsOwnWorkerAlone) {
  Break(Attach("mine"));
  listener_.Await(2);
  Break(Attach("other", 1));
  listener_.Await(4);
  Break(Attach("", 1));
  listener_.Await(6);
  Break(Attach("mine", 1));
  listener_.Await(9);
  Break(Attach("mine", 1));
  EXPECT_EQ(listener_.Await(11),
            "attached w1; ended w1; attached w2; ended w2; attached w3; ended w3; "
            "killed under 1: signal 6 (Aborted); attached w4; ended w4; attached w5; ended w5");
}

TEST_F(WorkerPoolTest, ABrokenStreamWithoutAWordIsNoKill) {
  Break(Attach("mine"));
  listener_.Await(2);
  auto next = Attach("mine");
  Break(std::move(next));
  listener_.Await(4);
  Break(Attach("mine", 1));  // Too late: the process between has said that all was well.
  EXPECT_EQ(listener_.Await(6), "attached w1; ended w1; attached w2; ended w2; attached w3; ended w3");
}

TEST_F(WorkerPoolTest, AnAnsweredOrCancelledLeaseIsNotToBlame) {
  auto process = Attach("mine");
  pool_.Cancel("w1", 1);
  Break(std::move(process));
  listener_.Await(2);
  process = Attach("mine", 1);
  Answer(process.get(), 2);
  process->stream->WritesDone();
  v1::DaemonMessage reply;
  while (process->stream->Read(&reply)) {
  }
  process->stream->Finish();
  listener_.Await(4);
  Break(Attach("mine", 2));
  EXPECT_EQ(listener_.Await(6), "attached w1; ended w1; attached w2; ended w2; attached w3; ended w3");
}

TEST_F(WorkerPoolTest, AnEndOfLongAgoIsNotExplainedAnyMore) {
  Break(Attach("mine"));
  listener_.Await(2);
  minutes_ = 11;
  Break(Attach("mine", 1));
  EXPECT_EQ(listener_.Await(4), "attached w1; ended w1; attached w2; ended w2");
}

TEST_F(WorkerPoolTest, ANewcomerOfTheSameSupervisorTakesThePlaceOfOneWhoseStreamIsStillThere) {
  auto before = Attach("mine");
  auto next = Attach("mine", 1);
  EXPECT_EQ(listener_.Await(4), "attached w1; ended w1; killed under 1: signal 6 (Aborted); attached w2");
  ASSERT_EQ(pool_.List().size(), 1u);
  EXPECT_EQ(pool_.List()[0].id(), "w2");
  Break(std::move(next));
  Break(std::move(before));
}

}  // namespace
}  // namespace tritond::workers
