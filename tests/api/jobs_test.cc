// SPDX-License-Identifier: Apache-2.0
// Submitted jobs: what their submitters and watchers see, over restarts of the daemon too.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/program.h"

namespace tritond::tests {
namespace {

class JobsTest : public DaemonTest {
 protected:
  static std::unique_ptr<grpc::ClientContext> Soon() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    return context;
  }
  v1::Job Submit(const v1::CompileRequest& request, const std::string& idempotency_key = "") {
    v1::SubmitRequest submit;
    *submit.mutable_request() = request;
    submit.set_idempotency_key(idempotency_key);
    v1::Job job;
    const grpc::Status status = compile->Submit(Soon().get(), submit, &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  v1::Job Get(const std::string& id) {
    v1::GetJobRequest request;
    request.set_id(id);
    v1::Job job;
    const grpc::Status status = compile->GetJob(Soon().get(), request, &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  v1::Job AwaitEnd(const std::string& id) {
    auto context = Soon();
    v1::WatchRequest request;
    request.set_id(id);
    auto stream = compile->Watch(context.get(), request);
    v1::Job job;
    while (stream->Read(&job)) {
    }
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  v1::CompileRequest Waiting(const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    SetOption(&request, "wait_for_file", Path("go"));
    return request;
  }
};

TEST_F(JobsTest, ASubmittedCompileEndsWithItsResult) {
  Start();
  const v1::Job submitted = Submit(Request("kernel"));
  EXPECT_EQ(submitted.state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(submitted.key().size(), 64u);
  const v1::Job job = AwaitEnd(submitted.id());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.response().result().artifacts_size(), 1);
  EXPECT_EQ(job.response().blobs_size(), 0);
  EXPECT_EQ(job.attempts(), 1u);
  v1::CompileResponse stored;
  ASSERT_TRUE(Compile(Request("kernel"), &stored).ok());
  EXPECT_EQ(stored.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(stored.key(), job.key());
  EXPECT_EQ(AwaitEnd(Submit(Request("kernel")).id()).response().cache(), v1::CACHE_STATUS_HIT);
}

TEST_F(JobsTest, WatchersSeeItRun) {
  Start();
  const v1::Job submitted = Submit(Waiting("slow"));
  auto context = Soon();
  v1::WatchRequest request;
  request.set_id(submitted.id());
  auto stream = compile->Watch(context.get(), request);
  v1::Job job;
  while (stream->Read(&job) && job.state() != v1::JOB_STATE_RUNNING) {
  }
  EXPECT_EQ(job.state(), v1::JOB_STATE_RUNNING);
  Touch("go");
  while (stream->Read(&job)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobsTest, FailuresCarryTheCompilersDetails) {
  Start();
  const v1::Job job = AwaitEnd(Submit(Request("error invalid wrong type")).id());
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.failure().code(), static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_GT(job.failure().details_size(), 0);
}

TEST_F(JobsTest, JobsGoOnAfterARestart) {
  Start();
  const v1::Job done = AwaitEnd(Submit(Request("done")).id());
  const v1::Job running = Submit(Waiting("running"), "only once");
  Await([&] { return Get(running.id()).state() == v1::JOB_STATE_RUNNING; });
  Stop(absl::ZeroDuration());
  Start();
  EXPECT_EQ(Get(done.id()).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_NE(Get(running.id()).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(Submit(Waiting("running"), "only once").id(), running.id());
  Touch("go");
  EXPECT_EQ(AwaitEnd(running.id()).state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobsTest, CancelEndsTheCompile) {
  Start();
  const v1::Job running = Submit(Waiting("running"));
  Await([&] { return Get(running.id()).state() == v1::JOB_STATE_RUNNING; });
  v1::CancelRequest request;
  request.set_id(running.id());
  v1::Job job;
  ASSERT_TRUE(compile->Cancel(Soon().get(), request, &job).ok());
  EXPECT_EQ(job.state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(AwaitEnd(running.id()).state(), v1::JOB_STATE_CANCELLED);
  Await([&] { return Stats().queues(0).running() == 0; });
  request.set_id("unknown");
  EXPECT_EQ(compile->Cancel(Soon().get(), request, &job).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobsTest, AreListedNewestFirstPageByPage) {
  Start();
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(Submit(Request(absl::StrCat("kernel ", i))).id());
  for (const std::string& id : ids) AwaitEnd(id);
  v1::ListJobsRequest request;
  request.set_page_size(2);
  std::vector<std::string> listed;
  do {
    v1::ListJobsResponse page;
    ASSERT_TRUE(compile->ListJobs(Soon().get(), request, &page).ok());
    EXPECT_LE(page.jobs_size(), 2);
    for (const v1::Job& job : page.jobs()) listed.push_back(job.id());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, std::vector<std::string>(ids.rbegin(), ids.rend()));
  v1::ListJobsResponse none;
  request.add_states(v1::JOB_STATE_FAILED);
  ASSERT_TRUE(compile->ListJobs(Soon().get(), request, &none).ok());
  EXPECT_EQ(none.jobs_size(), 0);
  request.set_page_token("nonsense");
  EXPECT_EQ(compile->ListJobs(Soon().get(), request, &none).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(JobsTest, BadRequestsAreRefusedAtOnce) {
  Start();
  v1::SubmitRequest request;
  v1::Job job;
  const grpc::Status status = compile->Submit(Soon().get(), request, &job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "BAD_REQUEST");
  v1::GetJobRequest unknown;
  unknown.set_id("unknown");
  EXPECT_EQ(compile->GetJob(Soon().get(), unknown, &job).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::WatchRequest watch;
  watch.set_id("unknown");
  auto context = Soon();
  auto stream = compile->Watch(context.get(), watch);
  EXPECT_FALSE(stream->Read(&job));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobsTest, AnIdempotencyKeyForAnotherKernelIsRefused) {
  Start();
  v1::SubmitRequest request;
  *request.mutable_request() = Request("module {} one");
  request.set_idempotency_key("once");
  v1::Job first, again;
  ASSERT_TRUE(compile->Submit(Soon().get(), request, &first).ok());
  request.mutable_request()->set_label("another label is no other kernel");
  ASSERT_TRUE(compile->Submit(Soon().get(), request, &again).ok());
  EXPECT_EQ(again.id(), first.id());
  request.mutable_request()->set_ir("module {} two");
  const grpc::Status status = compile->Submit(Soon().get(), request, &again);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(ReasonOf(status), "IDEMPOTENCY_KEY_REUSED");
}

TEST_F(JobsTest, WithoutAWorkerAJobWaitsAndSaysForWhat) {
  config.workers = 0;
  Start(/*wait=*/false);
  const v1::Job job = Submit(Request("kernel"));
  const v1::Job cancelled = Submit(Request("another"));
  Await([&] { return Get(job.id()).failure().message() == "no worker for cuda:90 is attached"; });
  EXPECT_EQ(Get(job.id()).state(), v1::JOB_STATE_QUEUED);
  v1::CancelRequest cancel;
  cancel.set_id(cancelled.id());
  v1::Job ended;
  ASSERT_TRUE(compile->Cancel(Soon().get(), cancel, &ended).ok());
  EXPECT_EQ(ended.state(), v1::JOB_STATE_CANCELLED);
  const Program worker({config.worker_binary, "--server", daemon().local_address()}, Path("worker.log"));
  EXPECT_EQ(AwaitEnd(job.id()).state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobsTest, AJobWhoseBinaryNoWorkerCanMakeWaitsForOneThatCan) {
  Start();
  v1::CompileRequest request = Request("kernel");
  request.set_target("cuda:100");
  const v1::Job job = Submit(request);
  Await([&] { return Get(job.id()).failure().message().find("no assembler here") != std::string::npos; });
  EXPECT_EQ(Get(job.id()).state(), v1::JOB_STATE_QUEUED);
}

TEST_F(JobsTest, AJobWaitsForATargetThatNoWorkerHasYet) {
  Start();
  v1::CompileRequest request = Request("kernel");
  request.set_target("cuda:42");
  const v1::Job job = Submit(request);
  Await([&] { return Get(job.id()).failure().message() == "no worker for cuda:42 is attached"; });
  EXPECT_EQ(Get(job.id()).state(), v1::JOB_STATE_QUEUED);
}

TEST_F(JobsTest, ATenantWithTooManyOpenJobsIsToldWhenToComeBack) {
  config.max_jobs_per_tenant = 1;
  Start();
  v1::SubmitRequest request;
  *request.mutable_request() = Waiting("first");
  request.mutable_request()->set_tenant("greedy");
  const v1::Job first = Submit(request.request());
  v1::Job job;
  const grpc::Status status = compile->Submit(Soon().get(), request, &job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "TOO_MANY_JOBS");
  auto retry = DetailOf<google::rpc::RetryInfo>(status);
  ASSERT_NE(retry, nullptr);
  EXPECT_GT(retry->retry_delay().seconds(), 0);
  request.mutable_request()->set_tenant("modest");
  EXPECT_TRUE(compile->Submit(Soon().get(), request, &job).ok());
  Touch("go");
  EXPECT_EQ(AwaitEnd(first.id()).state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobsTest, AJobWaitsForAWorkerHoweverLongThatTakes) {
  config.workers = 0;
  Start(/*wait=*/false);
  const v1::Job job = Submit(Request("kernel"));
  EXPECT_EQ(Get(job.id()).state(), v1::JOB_STATE_QUEUED);
  Stop(absl::ZeroDuration());
  config.workers = 1;
  Start();
  EXPECT_EQ(AwaitEnd(job.id()).state(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace tritond::tests
