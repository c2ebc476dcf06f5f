// SPDX-License-Identifier: Apache-2.0
// What a worker does with the time that a lease gives it. Here the worker is real, but for its compiler, and the daemon
// is the test, which cancels nothing. The worker knows by itself when to stop.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/v1/worker.grpc.pb.h"
#include "tests/support/fake_compiler.h"
#include "workers/runner/runner.h"

namespace tritond::tests {
namespace {

using compiler::Stage;

// Gives one lease, may extend it once the worker has reached its second stage, and keeps the outcome.
class OneLease final : public v1::WorkerService::Service {
 public:
  grpc::Status Attach(grpc::ServerContext*,
                      grpc::ServerReaderWriter<v1::DaemonMessage, v1::WorkerMessage>* stream) override {
    v1::WorkerMessage message;
    if (!stream->Read(&message) || !message.has_hello()) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "");
    v1::DaemonMessage out;
    out.mutable_welcome()->mutable_heartbeat_interval()->set_nanos(20'000'000);
    stream->Write(out);
    *out.mutable_lease() = lease;
    stream->Write(out);
    while (stream->Read(&message)) {
      if (message.has_progress() && message.progress().stage() == v1::STAGE_TTGIR && extension.has_value()) {
        *out.mutable_extend() = *extension;
        stream->Write(out);
        extended = true;
      }
      if (message.has_query()) {
        out.mutable_answer()->set_lease(message.query().lease());
        stream->Write(out);
      }
      if (!message.has_compiled()) continue;
      outcome = message.compiled();
      out.mutable_drain();
      stream->Write(out);
    }
    return grpc::Status::OK;
  }

  std::optional<v1::ExtendLease> extension;
  v1::Lease lease;
  v1::CompileOutcome outcome;
  std::atomic<bool> extended{false};
};

class LeaseTest : public testing::Test {
 protected:
  LeaseTest() {
    daemon_.lease.set_id(7);
    daemon_.lease.mutable_time_limit()->set_seconds(60);
    v1::CompileRequest& request = *daemon_.lease.mutable_compile();
    request.set_input(v1::STAGE_TTIR);
    request.set_ir("module {}");
    request.set_target("cuda:90");
    request.add_outputs(v1::STAGE_BINARY);
  }

  static google::protobuf::Duration Milliseconds(int count) {
    google::protobuf::Duration duration;
    duration.set_seconds(count / 1000);
    duration.set_nanos(count % 1000 * 1'000'000);
    return duration;
  }

  // Runs a worker until it has done the lease; `on_stage` is called as a stage begins.
  absl::Status Work(std::function<void(Stage)> on_stage) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&daemon_);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    workers::RunnerOptions options;
    options.server = absl::StrCat("127.0.0.1:", port);
    options.sandbox = false;  // the test goes on in this process
    options.on_stage = [&](Stage stage, const compiler::CompileRequest&) {
      seen_.push_back(stage);
      on_stage(stage);
    };
    FakeCompiler compiler("build");
    const absl::Status status = workers::RunWorker(options, compiler);
    server->Shutdown();
    return status;
  }

  OneLease daemon_;
  std::vector<Stage> seen_;
};

TEST_F(LeaseTest, AfterTheDeadlineTheNextStageDoesNotBegin) {
  *daemon_.lease.mutable_remaining() = Milliseconds(1000);
  ASSERT_TRUE(Work([](Stage stage) {
                if (stage == Stage::kTtgir) absl::SleepFor(absl::Milliseconds(1100));
              }).ok());
  EXPECT_EQ(daemon_.outcome.code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(daemon_.outcome.blobs_size(), 0);
  EXPECT_EQ(seen_.back(), Stage::kTtgir);
}

TEST_F(LeaseTest, ACallerThatJoinsLaterGetsTheResult) {
  *daemon_.lease.mutable_remaining() = Milliseconds(1000);
  daemon_.extension.emplace();
  daemon_.extension->set_lease(7);
  *daemon_.extension->mutable_remaining() = Milliseconds(60000);
  const absl::Time start = absl::Now();
  ASSERT_TRUE(Work([&](Stage stage) {
                while (stage == Stage::kTtgir && (!daemon_.extended || absl::Now() < start + absl::Milliseconds(1200)))
                  absl::SleepFor(absl::Milliseconds(5));
              }).ok());
  EXPECT_EQ(daemon_.outcome.code(), 0) << daemon_.outcome.message();
  EXPECT_EQ(daemon_.outcome.blobs_size(), 1);
}

TEST_F(LeaseTest, TheLastStageOutlivesTheDeadline) {
  *daemon_.lease.mutable_remaining() = Milliseconds(2000);
  const absl::Time start = absl::Now();
  ASSERT_TRUE(Work([&](Stage stage) {
                while (stage == Stage::kBinary && absl::Now() < start + absl::Milliseconds(2100))
                  absl::SleepFor(absl::Milliseconds(5));
              }).ok());
  EXPECT_EQ(daemon_.outcome.code(), 0) << daemon_.outcome.message();
}

TEST_F(LeaseTest, WithoutADeadlineThereIsTimeEnough) {
  ASSERT_TRUE(Work([](Stage) {}).ok());
  EXPECT_EQ(daemon_.outcome.code(), 0) << daemon_.outcome.message();
}

}  // namespace
}  // namespace tritond::tests
