// SPDX-License-Identifier: Apache-2.0
// Calls that wait for long cost their daemon no threads.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

constexpr int kCallers = 400;
constexpr int kWatchers = 200;
// gRPC's own come and go by a few.
constexpr int kFewThreads = 16;

v1::CompileRequest WaitingRequest(const DaemonProcess& daemon, uint64_t number) {
  v1::CompileRequest request = NumberedRequest(number);
  (*request.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(daemon.folder() + "/go");
  return request;
}
void LetGo(const DaemonProcess& daemon) { std::ofstream file(daemon.folder() + "/go"); }

struct Call {
  grpc::ClientContext context;
  v1::CompileRequest request;
  v1::CompileResponse response;
  grpc::Status status;
  absl::Notification done;
};

// Reads a job's states until the last.
class Watcher final : public grpc::ClientReadReactor<v1::Job> {
 public:
  Watcher(v1::CompileService::Stub& stub, const std::string& id) {
    request_.set_id(id);
    stub.async()->Watch(&context_, &request_, this);
    StartRead(&job_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (ok) StartRead(&job_);
  }
  void OnDone(const grpc::Status& status) override {
    status_ = status;
    done_.Notify();
  }
  v1::JobState Wait() {
    done_.WaitForNotification();
    return status_.ok() ? job_.state() : v1::JOB_STATE_UNSPECIFIED;
  }

 private:
  grpc::ClientContext context_;
  v1::WatchRequest request_;
  v1::Job job_;
  grpc::Status status_;
  absl::Notification done_;
};

TEST(WaitingCalls, CostNoThreads) {
  DaemonProcess daemon;
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(stubs, NumberedRequest(0), &response).ok());
  v1::SubmitRequest submit;
  *submit.mutable_request() = WaitingRequest(daemon, 1);
  v1::Job job;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(stubs.compile->Submit(&context, submit, &job).ok());
  }
  const int before = ThreadsOf(daemon.pid());
  ASSERT_GT(before, 1);

  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kCallers; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.request = WaitingRequest(daemon, 1 + i / 2);  // Each kernel twice: half of them join.
    stubs.compile->async()->Compile(&call.context, &call.request, &call.response, [&call](grpc::Status status) {
      call.status = std::move(status);
      call.done.Notify();
    });
  }
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < kWatchers; ++i) watchers.push_back(std::make_unique<Watcher>(*stubs.compile, job.id()));
  ASSERT_TRUE(Await([&] { return daemon.Stats().queues(0).queued() == uint64_t{kCallers} / 2 - 1; }));
  const int waiting = ThreadsOf(daemon.pid());
  std::cout << before << " threads, " << waiting << " with " << kCallers + kWatchers << " calls that wait\n";
  EXPECT_LE(waiting, before + kFewThreads);

  LetGo(daemon);
  for (const auto& call : calls) {
    call->done.WaitForNotification();
    EXPECT_TRUE(call->status.ok()) << call->status.error_message();
  }
  for (const auto& watcher : watchers) EXPECT_EQ(watcher->Wait(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace tritond::tests
