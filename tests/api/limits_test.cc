// SPDX-License-Identifier: Apache-2.0
// What is too large is refused with its limit, over TCP and over the Unix socket, and the daemon goes on.
#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/cc/client.h"
#include "client/cc/status.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

enum class Way { kTcp, kUnix };

class LimitsTest : public DaemonTest, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    config.max_ir_bytes = 1 << 20;
    config.max_message_mb = 3;
    config.access_file = Path("access.yaml");  // Headers are read where rules ask for credentials.
    std::ofstream(config.access_file) << "anonymous: admin\nunix: admin\ntokens:\n  - {sha256: " << std::string(64, 'a')
                                      << ", role: read}\n";
    Start();
    address_ = GetParam() == Way::kTcp ? absl::StrCat("127.0.0.1:", daemon().ports()[0]) : daemon().local_address();
    stub_ = v1::CompileService::NewStub(grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  }
  // As any gRPC client sees it.
  grpc::Status CompileRaw(const v1::CompileRequest& request, const std::string& header = "") {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
    context.set_wait_for_ready(true);
    if (!header.empty()) context.AddMetadata("x-large", header);
    v1::CompileResponse response;
    return stub_->Compile(&context, request, &response);
  }
  // As our own client tells people.
  std::string OwnWords(const v1::CompileRequest& request) {
    client::ClientOptions options;
    options.address = address_;
    auto client = client::Client::Connect(options);
    EXPECT_TRUE(client.ok()) << client.status();
    auto response = (*client)->Compile(request, absl::Now() + absl::Seconds(30));
    EXPECT_FALSE(response.ok());
    return client::ErrorText(response.status());
  }
  void ExpectAlive() {
    const grpc::Status status = CompileRaw(Request(absl::StrCat("alive ", ++alive_)));
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  std::string address_;
  std::unique_ptr<v1::CompileService::Stub> stub_;
  int alive_ = 0;
};

TEST_P(LimitsTest, IrOverItsLimitIsABadRequestThatNamesLimitAndFlag) {
  EXPECT_TRUE(CompileRaw(Request(std::string(1 << 20, 'x'))).ok());
  const v1::CompileRequest large = Request(std::string((1 << 20) + 1, 'x'));
  const grpc::Status status = CompileRaw(large);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  auto bad = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_NE(bad, nullptr);
  EXPECT_EQ(bad->field_violations(0).field(), "ir");
  EXPECT_THAT(OwnWords(large), AllOf(HasSubstr("1048577"), HasSubstr("1048576"), HasSubstr("--max-ir-bytes")));
  ExpectAlive();
}

TEST_P(LimitsTest, AMessageOverItsLimitIsRefusedUnread) {
  const v1::CompileRequest large = Request(std::string(4 << 20, 'x'));
  const grpc::Status status = CompileRaw(large);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(OwnWords(large), AllOf(HasSubstr("3145728"), HasSubstr("--max-message-mb")));
  ExpectAlive();
}

TEST_P(LimitsTest, EachMethodTakesWhatItNeedsAndNoMore) {
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  const std::string long_text(1 << 20, 'x');
  v1::LookupRequest lookup;
  lookup.set_key(long_text);
  v1::GetJobRequest get_job;
  get_job.set_id(long_text);
  v1::WatchRequest watch;
  watch.set_id(long_text);
  v1::CompileResponse found;
  v1::Job job;
  grpc::ClientContext contexts[3];
  const grpc::Status statuses[] = {stub_->Lookup(&contexts[0], lookup, &found),
                                   stub_->GetJob(&contexts[1], get_job, &job),
                                   [&] { return stub_->Watch(&contexts[2], watch)->Finish(); }()};
  for (const grpc::Status& status : statuses) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(ReasonOf(status), "MESSAGE_TOO_LARGE");
  }
  ExpectAlive();
}

TEST_P(LimitsTest, AMessageOfTooManyObjectsIsNotParsed) {
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 600000; ++i) batch.add_requests();
  grpc::ClientContext contexts[3];
  const grpc::Status empty = stub_->CompileBatch(&contexts[0], batch)->Finish();
  v1::CompileRequest options = Request();
  for (int i = 0; i < 20000; ++i) SetOption(&options, absl::StrCat(i), 1);
  const grpc::Status many = CompileRaw(options);
  v1::SubmitRequest submit;
  auto* list = (*submit.mutable_request()->mutable_options()->mutable_fields())["list"].mutable_list_value();
  for (int i = 0; i < 20000; ++i) list->add_values();
  v1::Job job;
  const grpc::Status values = stub_->Submit(&contexts[1], submit, &job);
  for (const grpc::Status& status : {empty, many, values}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(ReasonOf(status), "TOO_MANY_FIELDS");
  }
  ExpectAlive();
}

TEST_P(LimitsTest, HeadersOverTheirLimitAreRefusedWithIt) {
  const grpc::Status status = CompileRaw(Request(), std::string(17 << 10, 'x'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "HEADERS_TOO_LARGE");
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("16384"), HasSubstr("--token-file")));
  ExpectAlive();
}

TEST_P(LimitsTest, HeadersFarOverTheirLimitCostTheConnectionAndNoMore) {
  const grpc::Status status = CompileRaw(Request(), std::string(256 << 10, 'x'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(std::string(client::FromGrpc(status).message()), HasSubstr("--token-file")) << status.error_message();
  // A call that is begun before the connection's end is known may still fail with it.
  Await([&] { return CompileRaw(Request("another connection")).ok(); });
}

TEST_P(LimitsTest, ATooLargeMessageDoesNotHurtOtherCallsOfItsConnection) {
  v1::CompileRequest slow = Request("slow");
  SetOption(&slow, "wait_for_file", Path("go"));
  grpc::Status first;
  std::thread call([&] { first = CompileRaw(slow); });
  Await([&] { return Stats().queues(0).running() == 1; });
  EXPECT_FALSE(CompileRaw(Request(std::string(4 << 20, 'x'))).ok());
  EXPECT_FALSE(CompileRaw(Request(), std::string(17 << 10, 'x')).ok());
  Touch("go");
  call.join();
  EXPECT_TRUE(first.ok()) << first.error_message();
}

INSTANTIATE_TEST_SUITE_P(Ways, LimitsTest, testing::Values(Way::kTcp, Way::kUnix),
                         [](const auto& way) { return way.param == Way::kTcp ? "Tcp" : "Unix"; });

}  // namespace
}  // namespace tritond::tests
