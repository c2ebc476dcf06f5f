// SPDX-License-Identifier: Apache-2.0
#include "client/cc/client.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/cc/status.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::client {
namespace {

// Answers Compile with one artifact whose bytes are the request's IR; fails the first `failures` calls.
class FakeCompileService final : public v1::CompileService::Service {
 public:
  grpc::Status Compile(grpc::ServerContext* context, const v1::CompileRequest* request,
                       v1::CompileResponse* response) override {
    ++calls;
    if (request->ir() == "takes long") answer_long.WaitForNotification();
    if (failures > 0) {
      --failures;
      return {grpc::StatusCode::UNAVAILABLE, "draining"};
    }
    if (request->ir().empty()) return {grpc::StatusCode::INVALID_ARGUMENT, "empty IR"};
    v1::Artifact* artifact = response->mutable_result()->add_artifacts();
    artifact->set_kind(v1::STAGE_BINARY);
    artifact->set_digest(proto::Sha256Hex(request->ir()));
    if (inline_blobs) {
      v1::Blob* blob = response->add_blobs();
      blob->set_digest(artifact->digest());
      blob->set_data(request->ir());
    }
    return grpc::Status::OK;
  }

  // Answers all but the last request of a first call, then breaks; the next call answers all.
  grpc::Status CompileBatch(grpc::ServerContext* context, const v1::CompileBatchRequest* request,
                            grpc::ServerWriter<v1::CompileBatchResponse>* writer) override {
    ++calls;
    const int answered = request->requests_size() - (failures > 0 ? 1 : 0);
    for (int i = answered - 1; i >= 0; --i) {
      v1::CompileBatchResponse item;
      item.set_index(i);
      if (refusals > 0) {
        --refusals;
        item.mutable_failure()->set_code(static_cast<int>(absl::StatusCode::kUnavailable));
      } else if (request->requests(i).ir().empty()) {
        item.mutable_failure()->set_code(3);
      } else {
        item.mutable_response()->set_key(request->requests(i).ir());
      }
      writer->Write(item);
    }
    if (failures == 0) return grpc::Status::OK;
    --failures;
    return {grpc::StatusCode::UNAVAILABLE, "lost"};
  }

  std::atomic<int> calls{0};
  std::atomic<int> failures{0};
  std::atomic<int> refusals{0};  // of items of batches
  std::atomic<bool> inline_blobs{true};
  absl::Notification answer_long;  // to IR that takes long
};

// Serves one artifact, three bytes a message; the first stream breaks after one message.
class FakeArtifactService final : public v1::ArtifactService::Service {
 public:
  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                     grpc::ServerWriter<v1::FetchResponse>* writer) override {
    offsets.push_back(request->offset());
    for (size_t at = request->offset(); at < bytes.size(); at += 3) {
      v1::FetchResponse part;
      part.set_offset(at);
      part.set_data(bytes.substr(at, 3));
      writer->Write(part);
      if (offsets.size() == 1) return {grpc::StatusCode::UNAVAILABLE, "broken pipe"};
    }
    return grpc::Status::OK;
  }

  std::string bytes = "eight bytes and more";
  std::vector<uint64_t> offsets;
};

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10);
    builder.RegisterService(&compile_);
    builder.RegisterService(&artifact_);
    server_ = builder.BuildAndStart();
    ClientOptions options;
    options.address = absl::StrCat("127.0.0.1:", port_);
    options.sleep = [this](absl::Duration delay) { slept_.push_back(delay); };
    options.retry.max_attempts = 4;
    client_ = std::move(Client::Connect(options)).value();
  }

  absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

  FakeCompileService compile_;
  FakeArtifactService artifact_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::vector<absl::Duration> slept_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, CompileReturnsTheBytesOfTheBinary) {
  v1::CompileRequest request;
  request.set_ir("module {}");
  const auto response = client_->Compile(request, Soon());
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_NE(FindBlob(*response, v1::STAGE_BINARY), nullptr);
  EXPECT_EQ(*FindBlob(*response, v1::STAGE_BINARY), "module {}");
  EXPECT_EQ(FindBlob(*response, v1::STAGE_ASM), nullptr);
}

TEST_F(ClientTest, CompileIsRepeatedWhileTheServerIsUnavailable) {
  compile_.failures = 2;
  v1::CompileRequest request;
  request.set_ir("module {}");
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_EQ(compile_.calls, 3);
  EXPECT_EQ(slept_.size(), 2u);
}

TEST_F(ClientTest, CompileGivesUpAfterTheLastAttempt) {
  compile_.failures = 100;
  EXPECT_EQ(client_->Compile({}, Soon()).status(), absl::UnavailableError("draining"));
  EXPECT_EQ(compile_.calls, 4);
}

TEST_F(ClientTest, AUserErrorIsNotRepeated) {
  EXPECT_EQ(client_->Compile({}, Soon()).status(), absl::InvalidArgumentError("empty IR"));
  EXPECT_EQ(compile_.calls, 1);
}

TEST_F(ClientTest, CompileFetchesTheBytesThatDidNotComeInline) {
  compile_.inline_blobs = false;
  v1::CompileRequest request;
  request.set_ir(artifact_.bytes);
  const auto response = client_->Compile(request, Soon());
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(*FindBlob(*response, v1::STAGE_BINARY), artifact_.bytes);
}

TEST_F(ClientTest, FetchResumesABrokenTransferWhereItStopped) {
  const auto bytes = client_->Fetch(proto::Sha256Hex(artifact_.bytes), Soon());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, artifact_.bytes);
  EXPECT_EQ(artifact_.offsets, (std::vector<uint64_t>{0, 3}));
}

TEST_F(ClientTest, FetchRefusesBytesOfAnotherDigest) {
  EXPECT_EQ(client_->Fetch(proto::Sha256Hex("other"), Soon()).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ClientTest, ABrokenBatchAsksAgainOnlyForWhatIsMissing) {
  compile_.failures = 1;
  std::vector<v1::CompileRequest> requests(3);
  requests[0].set_ir("a");
  requests[2].set_ir("c");
  std::vector<int> seen(3);
  const absl::Status status = client_->CompileBatch(
      requests,
      [&](size_t index, absl::StatusOr<v1::CompileResponse> result) {
        ++seen[index];
        EXPECT_EQ(result.ok(), index != 1);
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(seen, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(compile_.calls, 2);
}

TEST_F(ClientTest, AnItemThatTheServerRefusesForNowIsAskedForAgain) {
  compile_.refusals = 2;
  std::vector<v1::CompileRequest> requests(3);
  for (v1::CompileRequest& request : requests) request.set_ir("a");
  std::vector<int> seen(3);
  const auto count = [&](size_t index, absl::StatusOr<v1::CompileResponse> result) { seen[index] += result.ok(); };
  EXPECT_TRUE(client_->CompileBatch(requests, count, Soon()).ok());
  EXPECT_EQ(seen, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(compile_.calls, 2);
  EXPECT_EQ(slept_.size(), 1u);
}

TEST_F(ClientTest, AnItemThatIsAlwaysRefusedIsReportedAtTheEnd) {
  compile_.refusals = 100;
  int reported = 0;
  const absl::Status status = client_->CompileBatch(
      std::vector<v1::CompileRequest>(1),
      [&](size_t, absl::StatusOr<v1::CompileResponse> result) {
        ++reported;
        EXPECT_TRUE(absl::IsUnavailable(result.status()));
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(compile_.calls, 4);
}

// A cable that is cut while a compile takes long: nothing comes, and nothing says that nothing will.
TEST_F(ClientTest, ALongCallEndsWhenItsDaemonIsGoneWithoutAWordAndNotBefore) {
  tests::TcpProxy cable(port_);
  ClientOptions options;
  options.address = absl::StrCat("127.0.0.1:", cable.port());
  options.keepalive = absl::Milliseconds(500);
  options.retry.max_attempts = 1;
  auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok()) << client.status();
  v1::CompileRequest request;
  request.set_ir("takes long");
  absl::Notification ended;
  absl::Status status;
  std::thread caller([&] {
    status = (*client)->Compile(request, Soon()).status();
    ended.Notify();
  });
  // gRPC asks once a second at most, and by itself no more than twice.
  EXPECT_FALSE(ended.WaitForNotificationWithTimeout(absl::Milliseconds(3500))) << status;
  cable.Stall();
  EXPECT_TRUE(ended.WaitForNotificationWithTimeout(absl::Seconds(10)));
  compile_.answer_long.Notify();
  cable.Resume();
  caller.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

// Takes connections and says nothing: the kernel of a machine whose daemon hangs.
class SilentListener final {
 public:
  SilentListener() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  }
  ~SilentListener() { close(fd_); }
  const std::string& address() const { return address_; }

 private:
  const int fd_ = socket(AF_INET, SOCK_STREAM, 0);
  std::string address_;
};

TEST(Connect, ADaemonThatTakesTheCallAndSaysNothingIsGivenUpInTime) {
  const SilentListener silent;
  ClientOptions options;
  options.address = silent.address();
  options.connect_timeout = absl::Milliseconds(300);
  const absl::Time start = absl::Now();
  EXPECT_TRUE(absl::IsUnavailable(Client::Connect(options).status()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(1));
}

TEST_F(ClientTest, BesideASilentDaemonAnotherOneAnswers) {
  const SilentListener silent;
  ClientOptions options;
  options.address = absl::StrCat(silent.address(), ",127.0.0.1:", port_);
  auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok()) << client.status();
  const absl::Time start = absl::Now();
  for (int i = 0; i < 20; ++i) {  // Of which about half prefer the silent one.
    v1::CompileRequest request;
    request.set_ir(absl::StrCat("kernel ", i));
    EXPECT_TRUE((*client)->Compile(request, Soon()).ok());
  }
  EXPECT_EQ(compile_.calls, 20);
  EXPECT_LT(absl::Now() - start, absl::Seconds(8));  // It is waited for once, for two seconds.
}

TEST(Connect, RefusesAnAddressWithoutAPort) {
  ClientOptions options;
  options.address = "localhost";
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Connect, SaysWhereNoServerIs) {
  ClientOptions options;
  options.address = "unix:" + testing::TempDir() + "/no-such-socket";
  const absl::Status status = Client::Connect(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("no-such-socket"), std::string::npos);
}

TEST(Connect, RefusesATokenThatNoHeaderCarriesAndDoesNotQuoteIt) {
  ClientOptions options;
  options.address = "unix:" + testing::TempDir() + "/no-such-socket";
  for (const char* token : {"secret\nmore", "secr\xc3\xa9t", "secret more", "secret\x01"}) {
    options.token = token;
    const absl::Status status = Client::Connect(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << token;
    EXPECT_EQ(status.message().find("secr"), std::string::npos);
  }
}

TEST(Connect, KeepsATokenOffPlainTcp) {
  ClientOptions options;
  options.token = "secret";
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tritond::client
