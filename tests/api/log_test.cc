// SPDX-License-Identifier: Apache-2.0
// What the daemon writes into its log: each compile with its id, and no secret ever.
#include <gmock/gmock.h>
#include <httplib.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/request_key/request_key.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using server::LogEvent;
using testing::HasSubstr;
using testing::Not;

class LogTest : public DaemonTest {
 protected:
  void StartLogging() {
    auto started = server::Server::Start(config, server::LogSink([this](const LogEvent& event) {
                                           absl::MutexLock lock(&mu_);
                                           events_.push_back(event);
                                         }));
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  // Over the Unix socket, with this token unless it is empty.
  grpc::Status CompileAs(const std::string& token, const v1::CompileRequest& request, v1::CompileResponse* response) {
    auto stub =
        v1::CompileService::NewStub(grpc::CreateChannel(server_->local_address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return stub->Compile(&context, request, response);
  }
  std::vector<LogEvent> Ended() {
    absl::MutexLock lock(&mu_);
    std::vector<LogEvent> ended;
    for (const LogEvent& event : events_) {
      if (event.event == "compile_ended") ended.push_back(event);
    }
    return ended;
  }
  static std::string Field(const LogEvent& event, const std::string& name) {
    for (const auto& [field, value] : event.fields) {
      if (field == name) return value;
    }
    return "";
  }
  std::string Everything() {
    absl::MutexLock lock(&mu_);
    std::string all;
    for (const LogEvent& event : events_) {
      for (auto format : {server::LogFormat::kText, server::LogFormat::kJson})
        absl::StrAppend(&all, server::FormatLogLine(event, absl::UnixEpoch(), format), "\n");
    }
    return all;
  }

  absl::Mutex mu_;
  std::vector<LogEvent> events_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<server::Server> server_;
};

TEST_F(LogTest, EveryCompileIsLoggedUnderTheIdThatItsCallerGot) {
  StartLogging();
  v1::CompileRequest request = Request("module { secret_ir }");
  request.set_tenant("team");
  v1::CompileResponse response;
  ASSERT_TRUE(CompileAs("", request, &response).ok());
  ASSERT_TRUE(CompileAs("", request, &response).ok());  // A hit: nothing was compiled.
  ASSERT_EQ(Ended().size(), 1u);
  const LogEvent ended = Ended()[0];
  EXPECT_EQ(Field(ended, "outcome"), "ok");
  EXPECT_EQ(Field(ended, "key"), response.key());
  EXPECT_EQ(Field(ended, "tenant"), "team");
  EXPECT_EQ(Field(ended, "label"), "kernel");
  EXPECT_EQ(Field(ended, "target"), "cuda:90");
  EXPECT_NE(Field(ended, "cpu_ms"), "");
  EXPECT_NE(Field(ended, "peak_mb"), "");
  EXPECT_EQ(Field(ended, "daemon"), "");

  const grpc::Status failed = CompileAs("", Request("error invalid quotes %secret_ir\n"), &response);
  auto info = DetailOf<google::rpc::ErrorInfo>(failed);
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(Ended().size(), 2u);
  EXPECT_EQ(Field(Ended()[1], "job"), info->metadata().at("job"));
  EXPECT_EQ(Field(Ended()[1], "outcome"), "invalid_argument");
  EXPECT_EQ(Field(Ended()[1], "reason"), "COMPILE_FAILED");
  EXPECT_THAT(Everything(), Not(HasSubstr("secret_ir")));
}

TEST_F(LogTest, CallsHaveLinesWhereThatIsWanted) {
  const auto calls = [this] {
    absl::MutexLock lock(&mu_);
    std::vector<LogEvent> calls;
    for (const LogEvent& event : events_) {
      if (event.event == "call" && Field(event, "method") == "/tritond.v1.CompileService/Compile")
        calls.push_back(event);
    }
    return calls;
  };
  v1::CompileResponse response;
  config.log_calls = "failed";
  StartLogging();
  ASSERT_TRUE(CompileAs("", Request("fine %secret_ir"), &response).ok());
  ASSERT_FALSE(CompileAs("", Request("error invalid quotes %secret_ir\n"), &response).ok());
  Await([&] { return calls().size() == 1; });
  const LogEvent failed = calls()[0];
  EXPECT_EQ(failed.level, LogEvent::Level::kInfo);
  EXPECT_EQ(Field(failed, "code"), "INVALID_ARGUMENT");
  EXPECT_EQ(Field(failed, "peer"), "unix");
  EXPECT_NE(Field(failed, "ms"), "");
  server_->Shutdown(absl::Seconds(5));
  server_.reset();
  config.log_calls = "all";
  StartLogging();
  ASSERT_TRUE(CompileAs("", Request("fine %secret_ir"), &response).ok());
  Await([&] { return calls().size() == 2; });
  EXPECT_EQ(calls()[1].level, LogEvent::Level::kDebug);
  EXPECT_EQ(Field(calls()[1], "code"), "OK");
  EXPECT_THAT(Everything(), Not(HasSubstr("secret_ir")));
}

TEST_F(LogTest, NoTokenAndNoHeaderReachesIt) {
  std::ofstream(Path("access.yaml")) << "unix: compile\ntokens:\n  - {sha256: " << proto::Sha256Hex("a-good-token")
                                     << ", role: compile}\n";
  config.access_file = Path("access.yaml");
  StartLogging();
  v1::CompileResponse response;
  EXPECT_TRUE(CompileAs("a-good-token", Request("one"), &response).ok());
  EXPECT_FALSE(CompileAs("a-bad-token", Request("two"), &response).ok());
  httplib::Client http("127.0.0.1", server_->http_port());
  for (const char* token : {"a-good-token", "a-bad-token"}) {
    ASSERT_TRUE(http.Get("/api/status", {{"Authorization", absl::StrCat("Bearer ", token)}}));
    ASSERT_TRUE(http.Get("/api/jobs/1", {{"Authorization", absl::StrCat("Bearer ", token)}, {"Cookie", "a-cookie"}}));
  }
  std::ofstream(Path("access.yaml")) << "tokens: [{sha256: wrong, token: a-third-token}]\n";
  Await([&] { return Everything().find("stay in force") != std::string::npos; });
  std::ifstream file(Path("data/worker.token"));
  const std::string worker_token{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(worker_token.empty());
  std::ifstream key_file(Path("data/signing.key"));
  std::string signing_key;
  std::getline(key_file, signing_key);  // What each such file begins with.
  std::getline(key_file, signing_key);
  ASSERT_GT(signing_key.size(), 40u);
  server_->Shutdown(absl::Seconds(5));
  const std::string all = Everything();
  EXPECT_THAT(all, HasSubstr("compile_ended"));
  for (const std::string& secret :
       {std::string("a-good-token"), std::string("a-bad-token"), std::string("a-third-token"), std::string("a-cookie"),
        std::string("Bearer"), worker_token, signing_key})
    EXPECT_THAT(all, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace tritond::tests
