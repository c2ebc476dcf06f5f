// SPDX-License-Identifier: Apache-2.0
// Large texts are read in their turn, apart from everything else, and only while somebody wants the answer.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/scrape.h"

namespace tritond::tests {
namespace {

constexpr size_t kLargeBytes = size_t{16} << 20;

class TextsTest : public DaemonTest {
 protected:
  TextsTest() {
    config.workers = 1;
    config.text_threads = 1;
    config.max_incoming_mb = 4096;  // One caller's texts may hold an eighth.
  }
  ~TextsTest() override { Join(); }

  // Wants all of it read to find out that it is no IR: the string at its end does not end.
  static const std::string& LargeText() {
    static const std::string text = [] {
      std::string words(kLargeBytes, ' ');
      for (size_t i = 0; i < words.size(); i += 2) words[i] = 'x';
      words.back() = '"';
      return words;
    }();
    return text;
  }
  // Calls that send the large text, each on a connection and a thread of its own.
  void Flood(int calls) {
    for (int i = 0; i < calls; ++i) {
      contexts_.push_back(std::make_unique<grpc::ClientContext>());
      callers_.emplace_back([this, context = contexts_.back().get()] {
        grpc::ChannelArguments own;
        own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
        auto stub = v1::CompileService::NewStub(grpc::CreateCustomChannel(
            absl::StrCat("127.0.0.1:", daemon().ports()[0]), grpc::InsecureChannelCredentials(), own));
        v1::CompileResponse response;
        grpc::Status status = stub->Compile(context, Request(LargeText()), &response);
        absl::MutexLock lock(&mu_);
        ends_.push_back(std::move(status));
      });
    }
  }
  std::vector<grpc::Status> Join() {
    for (std::thread& caller : callers_) caller.join();
    callers_.clear();
    absl::MutexLock lock(&mu_);
    return ends_;
  }
  double Metric(const std::string& series) { return ScrapeMetric(daemon().http_port(), series); }

  std::vector<std::unique_ptr<grpc::ClientContext>> contexts_;

 private:
  std::vector<std::thread> callers_;
  absl::Mutex mu_;
  std::vector<grpc::Status> ends_ ABSL_GUARDED_BY(mu_);
};

TEST_F(TextsTest, HitsAndOtherCallsAreAnsweredWhileLargeTextsWait) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request("module stored"), &response).ok());
  const std::string medium = absl::StrCat("module medium\n//", std::string(size_t{1} << 19, ' '));
  ASSERT_TRUE(Compile(Request(medium), &response).ok());
  Flood(8);
  Await([&] { return Metric("tritond_waiting_texts") >= 5; });
  ASSERT_TRUE(Compile(Request("module stored"), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT);
  ASSERT_TRUE(Compile(Request(medium), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT);
  ASSERT_TRUE(Compile(Request("module fresh"), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_GE(Metric("tritond_waiting_texts"), 1) << "the flood was over before the others were answered";
  EXPECT_GE(Metric("tritond_waiting_text_bytes"), kLargeBytes);
  for (const grpc::Status& status : Join()) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  }
  EXPECT_EQ(Metric("tritond_waiting_text_bytes"), 0);
}

TEST_F(TextsTest, TextsOfCallersThatHaveGoneAreNotRead) {
  Start();
  Flood(8);
  Await([&] { return Metric("tritond_waiting_texts") >= 6; });
  for (const auto& context : contexts_) context->TryCancel();
  Await([&] { return Metric("tritond_waiting_texts") == 0; });
  EXPECT_EQ(Metric("tritond_waiting_text_bytes"), 0);
  for (const grpc::Status& status : Join()) {
    const bool read = status.error_code() == grpc::StatusCode::INVALID_ARGUMENT;
    EXPECT_TRUE(read || status.error_code() == grpc::StatusCode::CANCELLED) << status.error_message();
  }
  EXPECT_GE(Metric("tritond_requests_total{answer=\"cancelled\"}"), 6);
}

TEST_F(TextsTest, TheDaemonEndsWhileTextsWaitAndSaysSo) {
  Start();
  Flood(8);
  Await([&] { return Metric("tritond_waiting_texts") >= 4; });
  const absl::Time begun = absl::Now();
  Stop();
  EXPECT_LT(absl::Now() - begun, absl::Seconds(10));
  int draining = 0;
  for (const grpc::Status& status : Join()) draining += ReasonOf(status) == "DRAINING" ? 1 : 0;
  EXPECT_GE(draining, 1);
}

TEST_F(TextsTest, TooManyTextsAreRefusedWithADelay) {
  config.max_ir_bytes = kLargeBytes;
  config.max_message_mb = 20;
  config.max_incoming_mb = 80;
  Start();
  Flood(3);  // One is read, one waits; gRPC has room for all of them.
  int full = 0;
  for (const grpc::Status& status : Join()) {
    if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) continue;
    EXPECT_EQ(ReasonOf(status), "TEXTS_FULL") << status.error_message();
    EXPECT_NE(DetailOf<google::rpc::RetryInfo>(status), nullptr);
    ++full;
  }
  EXPECT_GE(full, 1);
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(Request("module fresh"), &response).ok());
}

TEST_F(TextsTest, BatchesAndSubmittedJobsAreReadInTurnToo) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request("module stored"), &response).ok());
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 4; ++i) *batch.add_requests() = Request(LargeText());
  std::thread batch_caller([&] {
    grpc::ClientContext context;
    auto stream = compile->CompileBatch(&context, batch);
    v1::CompileBatchResponse one;
    int failures = 0;
    while (stream->Read(&one)) failures += one.has_failure() ? 1 : 0;
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(failures, 4);
  });
  std::thread submitter([&] {
    v1::SubmitRequest submit;
    *submit.mutable_request() = Request(LargeText());
    grpc::ClientContext context;
    v1::Job job;
    EXPECT_EQ(compile->Submit(&context, submit, &job).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  });
  Await([&] { return Metric("tritond_waiting_texts") >= 3; });
  ASSERT_TRUE(Compile(Request("module stored"), &response).ok());
  EXPECT_GE(Metric("tritond_waiting_texts"), 1);
  batch_caller.join();
  submitter.join();
}

}  // namespace
}  // namespace tritond::tests
