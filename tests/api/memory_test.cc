// SPDX-License-Identifier: Apache-2.0
// Memory for requests that wait has a limit: what does not fit is refused with a delay, and what needs none is served.
#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/scrape.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

constexpr size_t kIrBytes = size_t{1} << 20;

class MemoryTest : public DaemonTest {
 protected:
  MemoryTest() {
    config.workers = 1;
    config.max_ir_bytes = kIrBytes + 100;
    config.max_queued_mb = 4;
  }
  ~MemoryTest() override { Join(); }

  v1::CompileRequest Large(const std::string& name, bool waits = true) {
    v1::CompileRequest request = Request(absl::StrCat("module ", name, "\n", std::string(kIrBytes, 'x')));
    if (waits) SetOption(&request, "wait_for_file", Path("go"));
    return request;
  }
  // A call that waits until the test ends it with Join.
  void Begin(const v1::CompileRequest& request) {
    callers_.emplace_back([this, request] {
      v1::CompileResponse response;
      EXPECT_TRUE(Compile(request, &response).ok());
    });
  }
  // Three large requests: one runs, two wait, and a fourth finds no room.
  void Fill() {
    for (int i = 0; i < 3; ++i) {
      Begin(Large(absl::StrCat("waits ", i)));
      Await([&] { return Stats().queues(0).running() + Stats().queues(0).queued() == static_cast<uint64_t>(i) + 1; });
    }
  }
  void Join() {
    Touch("go");
    for (std::thread& caller : callers_) caller.join();
    callers_.clear();
  }
  grpc::Status Try(const v1::CompileRequest& request, absl::Duration timeout = absl::Seconds(60)) {
    v1::CompileResponse response;
    return Compile(request, &response, timeout);
  }
  static void ExpectFull(const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(ReasonOf(status), "MEMORY_FULL");
    EXPECT_THAT(status.error_message(), HasSubstr("--max-queued-mb"));
    auto retry = DetailOf<google::rpc::RetryInfo>(status);
    ASSERT_NE(retry, nullptr);
    EXPECT_GT(retry->retry_delay().nanos() + retry->retry_delay().seconds(), 0);
  }
  v1::Job Submit(const v1::CompileRequest& request) {
    v1::SubmitRequest submit;
    *submit.mutable_request() = request;
    grpc::ClientContext context;
    v1::Job job;
    const grpc::Status status = compile->Submit(&context, submit, &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  v1::Job Get(const std::string& id) {
    v1::GetJobRequest request;
    request.set_id(id);
    grpc::ClientContext context;
    v1::Job job;
    EXPECT_TRUE(compile->GetJob(&context, request, &job).ok());
    return job;
  }
  double Metric(const std::string& series) { return ScrapeMetric(daemon().http_port(), series); }

 private:
  std::vector<std::thread> callers_;
};

TEST_F(MemoryTest, ARequestWithoutRoomHearsWhenToComeBackAndHitsAreServed) {
  Start();
  ASSERT_TRUE(Try(Large("stored", /*waits=*/false)).ok());
  Await([&] { return Metric("tritond_waiting_bytes") == 0; });  // It may be given back just after the answer.
  Fill();
  EXPECT_GE(Metric("tritond_waiting_bytes"), 3.0 * kIrBytes);
  EXPECT_EQ(Metric("tritond_waiting_limit_bytes"), 4 << 20);
  ExpectFull(Try(Large("one too many")));
  EXPECT_EQ(Metric("tritond_memory_refusals_total"), 1);
  EXPECT_TRUE(Try(Large("stored", /*waits=*/false)).ok());
  Begin(Request("a small one has room"));
  Join();
  Await([&] { return Metric("tritond_waiting_bytes") == 0; });
  EXPECT_TRUE(Try(Large("one too many")).ok());
}

TEST_F(MemoryTest, JoinersHoldNoIrAndJoinWhereNothingElseFits) {
  Start();
  Fill();
  const double before = Metric("tritond_waiting_bytes");
  for (int i = 0; i < 10; ++i) Begin(Large("waits 1"));
  // Of each job's waiters the status pages know; the bytes say the same.
  Await([&] { return Metric("tritond_waiting_bytes") >= before + 10 * 1024; });
  EXPECT_LT(Metric("tritond_waiting_bytes"), before + kIrBytes);
  ExpectFull(Try(Large("still one too many")));
  Join();
  EXPECT_EQ(Stats().compiles(), 3u);
}

TEST_F(MemoryTest, CallsThatWaitForAWorkerOfTheirTargetCount) {
  config.workers = 0;
  Start(/*wait=*/false);
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([this, i] { EXPECT_FALSE(Try(Large(absl::StrCat(i)), absl::Seconds(4)).ok()); });
  }
  Await([&] { return Metric("tritond_waiting_bytes") >= 3.0 * kIrBytes; });
  ExpectFull(Try(Large("one too many")));
  for (std::thread& caller : callers) caller.join();
  Await([&] { return Metric("tritond_waiting_bytes") == 0; });
}

TEST_F(MemoryTest, SubmittedJobsWaitOnDiskAndLeaveRoomForCallers) {
  Start();
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(Submit(Large(absl::StrCat("submitted ", i))).id());
  Await([&] { return Get(ids[0]).state() == v1::JOB_STATE_RUNNING; });
  EXPECT_LT(Metric("tritond_waiting_bytes"), 3.0 * kIrBytes);
  Begin(Large("a caller's"));
  Await([&] { return Metric("tritond_waiting_bytes") > 2.0 * kIrBytes; });
  Join();
  Await([&] { return Get(ids.back()).state() == v1::JOB_STATE_SUCCEEDED; });
  for (const std::string& id : ids) Await([&] { return Get(id).state() == v1::JOB_STATE_SUCCEEDED; });
  Await([&] { return Metric("tritond_waiting_bytes") == 0; });
}

TEST_F(MemoryTest, SubmitIsRefusedToo) {
  Start();
  Fill();
  v1::SubmitRequest submit;
  *submit.mutable_request() = Large("one too many");
  grpc::ClientContext context;
  v1::Job job;
  ExpectFull(compile->Submit(&context, submit, &job));
}

TEST_F(MemoryTest, ABatchThatDoesNotFitGetsItsHits) {
  Start();
  ASSERT_TRUE(Try(Large("stored", /*waits=*/false)).ok());
  Fill();
  v1::CompileBatchRequest batch;
  *batch.add_requests() = Large("one too many");
  *batch.add_requests() = Large("stored", /*waits=*/false);
  grpc::ClientContext context;
  auto reader = compile->CompileBatch(&context, batch);
  v1::CompileBatchResponse response;
  int answers = 0;
  while (reader->Read(&response)) {
    ++answers;
    if (response.index() == 0) {
      EXPECT_EQ(response.failure().code(), static_cast<int>(grpc::StatusCode::RESOURCE_EXHAUSTED));
      EXPECT_THAT(response.failure().message(), HasSubstr("--max-queued-mb"));
    } else {
      EXPECT_EQ(response.response().cache(), v1::CACHE_STATUS_HIT);
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(answers, 2);
}

TEST_F(MemoryTest, ABatchIsCountedOnce) {
  Start();
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 3; ++i) *batch.add_requests() = Large(absl::StrCat(i));
  grpc::ClientContext context;
  auto reader = compile->CompileBatch(&context, batch);
  Await([&] { return Stats().queues(0).queued() == 2; });
  EXPECT_GE(Metric("tritond_waiting_bytes"), 3.0 * kIrBytes);
  EXPECT_LT(Metric("tritond_waiting_bytes"), 4.0 * kIrBytes);
  Touch("go");
  v1::CompileBatchResponse response;
  int answers = 0;
  while (reader->Read(&response)) answers += response.has_response();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(answers, 3);
  Await([&] { return Metric("tritond_waiting_bytes") == 0; });
}

}  // namespace
}  // namespace tritond::tests
