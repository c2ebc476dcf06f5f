// SPDX-License-Identifier: Apache-2.0
// What kills workers of other machines is found out as what kills the daemon's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class RemoteCrash : public testing::Test {
 protected:
  void SetUp() override {
    daemon.workers = 0;
    ASSERT_TRUE(daemon.Start());
  }
  void StartWorkers(int count) {
    for (int i = 0; i < count; ++i) workers.push_back(RemoteWorker(daemon.port(), absl::StrCat("far", i)));
    ASSERT_TRUE(Await([&] { return daemon.Workers().workers_size() == count; }));
  }
  static v1::CompileRequest Faulty(const std::string& fault) {
    v1::CompileRequest request = NumberedRequest(1);
    (*request.mutable_options()->mutable_fields())["fault"].set_string_value(fault);
    return request;
  }
  // Compiles what kills its workers, whichever it gets; then another kernel.
  void ExpectQuarantined(const std::string& fault, const std::string& report) {
    Stubs stubs(daemon.address());
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, Faulty(fault), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("it is quarantined"));
    EXPECT_THAT(status.error_message(), HasSubstr(report));
    const uint64_t before = daemon.Stats().compiles();
    EXPECT_LE(before, 4u);
    EXPECT_EQ(Compile(stubs, Faulty(fault), &response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(daemon.Stats().compiles(), before);  // Answered without another victim.
    const grpc::Status healthy = Compile(stubs, NumberedRequest(2), &response);
    EXPECT_TRUE(healthy.ok()) << healthy.error_message();
    EXPECT_EQ(daemon.Stats().quarantined(), 1u);
  }

  DaemonProcess daemon;
  std::vector<std::unique_ptr<Program>> workers;
};

TEST_F(RemoteCrash, AKernelThatKillsTheOnlyWorkerIsQuarantined) {
  StartWorkers(1);
  ExpectQuarantined("abort", "signal 6 (Aborted) of the remote worker \"far0\"");
}

TEST_F(RemoteCrash, AKernelThatKillsOneWorkerAfterTheOtherIsQuarantined) {
  StartWorkers(2);
  ExpectQuarantined("exit", "exit status 3 of the remote worker");
}

TEST_F(RemoteCrash, ASubmittedJobThatKillsWorkersFails) {
  StartWorkers(2);
  Stubs stubs(daemon.address());
  v1::SubmitRequest request;
  *request.mutable_request() = Faulty("abort");
  v1::Job job;
  grpc::ClientContext context;
  ASSERT_TRUE(stubs.compile->Submit(&context, request, &job).ok());
  EXPECT_TRUE(Await([&] {
    grpc::ClientContext get;
    v1::GetJobRequest id;
    id.set_id(job.id());
    return stubs.compile->GetJob(&get, id, &job).ok() && job.state() == v1::JOB_STATE_FAILED;
  })) << job.ShortDebugString();
  EXPECT_THAT(job.failure().message(), HasSubstr("it is quarantined"));
}

TEST_F(RemoteCrash, ACutCableIsNotTheKernelsFault) {
  TcpProxy cable(daemon.port());
  auto far = RemoteWorker(cable.port(), "far");
  StuckCompile compile(daemon, daemon.folder() + "/go");
  for (uint64_t attempt = 1; attempt <= 2; ++attempt) {
    ASSERT_TRUE(Await([&] { return Running(daemon) && daemon.Stats().compiles() == attempt; }));
    cable.Stall();
    ASSERT_TRUE(Await([&] { return !Attached(daemon, "far"); }));
    cable.Resume();
  }
  ASSERT_TRUE(Await([&] { return Running(daemon) && daemon.Stats().compiles() == 3; }));
  EXPECT_EQ(daemon.Stats().quarantined(), 0u);
  compile.LetGo();
  compile.ExpectAnswer();
}

}  // namespace
}  // namespace tritond::tests
