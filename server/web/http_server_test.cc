// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/web/content_policy.h"
#include "tests/support/sanitizer.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kPage[] = "<style>p{}</style><p>page</p><script>1</script>";

// A caller of bytes, not of pages.
class Connection final {
 public:
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  void Dial(int port, int receive_bytes = 0) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    if (receive_bytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    ASSERT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  // False when the other end has closed it.
  bool Send(const std::string& bytes) { return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0; }
  std::string ReadAll() {
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = recv(fd_, buffer, sizeof(buffer), 0)) > 0;) all.append(buffer, got);
    return all;
  }

 private:
  int fd_ = -1;
};

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    HttpServer::Pages pages;
    pages.page = kPage;
    pages.api = [this](absl::string_view path, const WebCaller& caller) {
      if (wait_) wait_();
      absl::MutexLock lock(&mu_);
      path_ = std::string(path);
      caller_ = caller;
      return WebAnswer{200, "application/json", body_};
    };
    pages.post = [this](absl::string_view path, const WebCaller& caller) {
      path_ = "posted " + std::string(path);
      caller_ = caller;
      return WebAnswer{202, "application/json", "{}"};
    };
    pages.metrics = [](const WebCaller& caller) { return "metric{token=\"" + caller.token + "\"} 1\n"; };
    pages.not_ready = [this] { return why_; };
    pages.degraded = [this] { return degraded_; };
    auto started = HttpServer::Start("127.0.0.1:0", std::move(pages), HttpServer::kMostSessions,
                                     tests::WithinReason(absl::Seconds(1)));
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  httplib::Result Get(const char* path, const httplib::Headers& headers = {}) {
    return httplib::Client("127.0.0.1", server_->port()).Get(path, headers);
  }
  std::function<void()> wait_;  // before an answer
  absl::Mutex mu_;
  std::string why_, degraded_, path_, body_ = "{}";
  WebCaller caller_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesItsPages) {
  EXPECT_THAT(Get("/")->body, HasSubstr("<p>page</p>"));
  EXPECT_EQ(Get("/metrics")->body, "metric{token=\"\"} 1\n");
  EXPECT_EQ(Get("/healthz")->status, 200);
  EXPECT_EQ(Get("/nothing")->status, 404);
}

TEST_F(HttpServerTest, ThePageMayRunItsOwnScriptAndNothingElse) {
  const std::string policy = Get("/")->get_header_value("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  // Of "1" and "p{}".
  EXPECT_THAT(policy, HasSubstr("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
  EXPECT_THAT(policy, HasSubstr("style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_EQ(Get("/")->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(Get("/api/status")->get_header_value("Content-Security-Policy"), HasSubstr("sandbox"));
}

TEST_F(HttpServerTest, TheApiHearsWhoAsks) {
  EXPECT_EQ(Get("/api/jobs/1")->body, "{}");
  EXPECT_EQ(path_, "/api/jobs/1");
  EXPECT_TRUE(caller_.local);
  EXPECT_EQ(caller_.token, "");
  Get("/api/status", {{"Authorization", "Bearer secret"}});
  EXPECT_EQ(caller_.token, "secret");
  Get("/api/status", {{"Authorization", "Basic secret"}});
  EXPECT_EQ(caller_.token, "Basic secret");  // Which nobody knows.
}

TEST_F(HttpServerTest, APostNeedsTheHeaderOfItsIntent) {
  httplib::Client client("127.0.0.1", server_->port());
  EXPECT_EQ(client.Post("/api/jobs/1/ir", {{"X-Tritond-Intent", "page"}}, "", "text/plain")->status, 202);
  EXPECT_EQ(path_, "posted /api/jobs/1/ir");
  EXPECT_TRUE(caller_.deliberate && caller_.local);
  client.Post("/api/jobs/1/ir", "", "text/plain");
  EXPECT_FALSE(caller_.deliberate);
  path_ = "";
  EXPECT_EQ(client.Post("/api/jobs/1/ir", std::string(5000, 'x'), "text/plain")->status, 413);
  EXPECT_EQ(client.Post("/metrics", "", "text/plain")->status, 405);
  EXPECT_EQ(path_, "");
}

TEST_F(HttpServerTest, ACallerUnderAnotherNameOrThroughAProxyIsNotLocal) {
  for (const httplib::Headers& headers :
       {httplib::Headers{{"Host", "evil.example:7434"}}, httplib::Headers{{"X-Forwarded-For", "10.0.0.1"}},
        httplib::Headers{{"Forwarded", "for=10.0.0.1"}}}) {
    Get("/api/status", headers);
    EXPECT_FALSE(caller_.local);
  }
}

TEST_F(HttpServerTest, NoCallerIsLocalWhereOthersCanDial) {
  HttpServer::Pages pages;
  pages.api = [this](absl::string_view, const WebCaller& caller) {
    caller_ = caller;
    return WebAnswer{};
  };
  auto open = HttpServer::Start("0.0.0.0:0", std::move(pages));
  ASSERT_TRUE(open.ok()) << open.status();
  caller_.local = true;
  httplib::Client("127.0.0.1", (*open)->port()).Get("/api/status");
  EXPECT_FALSE(caller_.local);
}

TEST_F(HttpServerTest, ReadinessSaysWhyNot) {
  EXPECT_EQ(Get("/readyz")->status, 200);
  why_ = "draining";
  EXPECT_EQ(Get("/readyz")->status, 503);
  EXPECT_EQ(Get("/readyz")->body, "draining\n");
  why_ = "";
  degraded_ = "the disk is slow";
  EXPECT_EQ(Get("/readyz")->status, 200);
  EXPECT_EQ(Get("/readyz")->body, "ok, but the disk is slow\n");
}

TEST_F(HttpServerTest, ProbesAreAnsweredDuringOtherRequests) {
  // More than it has threads, of each kind: silent, trickling, and waiting for an answer that does not come.
  std::vector<Connection> silent(40), trickling(40);
  for (Connection& one : silent) one.Dial(server_->port());
  for (Connection& one : trickling) {
    one.Dial(server_->port());
    one.Send("GET /api/status HTTP/1.1\r\nHost: loc");
  }
  absl::Notification go;
  wait_ = [&] { go.WaitForNotification(); };
  std::vector<std::thread> waiting;
  for (int i = 0; i < 10; ++i) waiting.emplace_back([this] { EXPECT_EQ(Get("/api/status")->status, 200); });
  for (int i = 0; i < 20; ++i) {
    for (Connection& one : trickling) one.Send("x");
    const absl::Time start = absl::Now();
    ASSERT_EQ(Get("/healthz")->status, 200);
    ASSERT_EQ(Get("/readyz")->status, 200);
    EXPECT_LT(absl::Now() - start, tests::WithinReason(absl::Seconds(1)));
  }
  go.Notify();
  for (std::thread& thread : waiting) thread.join();
}

TEST_F(HttpServerTest, ProbesGetInBesideThoseWhoDoNotReadTheirAnswers) {
  // Each asks for far more than a socket holds, takes nothing of it, and so fills a place.
  body_ = std::string(300 << 10, 'x');
  std::atomic<int> answered{0};
  wait_ = [&] { ++answered; };
  std::vector<Connection> slow(HttpServer::kMostSessions);
  for (size_t i = 0; i < slow.size(); ++i) {
    slow[i].Dial(server_->port(), /*receive_bytes=*/4096);
    slow[i].Send("GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (answered <= static_cast<int>(i)) std::this_thread::yield();
  }
  for (int i = 0; i < 20; ++i) {
    const absl::Time start = absl::Now();
    for (const char* probe : {"/healthz", "/readyz", "/metrics"}) {
      auto answer = Get(probe);
      ASSERT_TRUE(answer != nullptr) << probe;
      EXPECT_EQ(answer->status, 200) << probe;
    }
    EXPECT_LT(absl::Now() - start, tests::WithinReason(absl::Seconds(1)));
  }
}

TEST_F(HttpServerTest, MetricsDoNotWaitForOtherPagesAndTooManyPagesAreRefused) {
  absl::Notification go;
  std::atomic<int> waiting{0}, refused{0};
  wait_ = [&] {
    ++waiting;
    go.WaitForNotification();
  };
  std::vector<std::thread> asking;
  for (int i = 0; i < HttpServer::kMostSessions / 2; ++i) {
    asking.emplace_back([&] {
      httplib::Client client("127.0.0.1", server_->port());
      client.set_read_timeout(60);
      auto answer = client.Get("/api/status");
      if (answer != nullptr && answer->status == 503) ++refused;
    });
  }
  while (waiting < 4 || refused < HttpServer::kMostSessions / 4) std::this_thread::yield();
  EXPECT_EQ(Get("/metrics")->status, 200);
  go.Notify();
  for (std::thread& thread : asking) thread.join();
  EXPECT_EQ(refused, HttpServer::kMostSessions / 4);
}

TEST_F(HttpServerTest, ProbesGetInThroughMoreConnectionsThanItKeeps) {
  std::vector<Connection> many(400);
  for (Connection& one : many) {
    one.Dial(server_->port());
    one.Send("GET /");
  }
  ASSERT_EQ(Get("/healthz")->status, 200);
  EXPECT_EQ(many.front().ReadAll(), "");  // Closed, to make room.
  many.back().Send("healthz HTTP/1.0\r\n\r\n");
  EXPECT_THAT(many.back().ReadAll(), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, ARequestThatIsNotWholeInTimeEndsItsConnection) {
  Connection slow;
  slow.Dial(server_->port());
  slow.Send("GET / HTTP/1.1\r\n");
  const absl::Time start = absl::Now();
  while (slow.Send("x: y\r\n") && absl::Now() - start < absl::Seconds(60)) absl::SleepFor(absl::Milliseconds(50));
  EXPECT_LT(absl::Now() - start, tests::WithinReason(absl::Seconds(3)));
}

TEST_F(HttpServerTest, HeadersBeyondReasonAndWhatIsNoHttpAreRefused) {
  EXPECT_EQ(Get("/", {{"X-Long", std::string(20000, 'x')}})->status, 431);
  Connection other;
  other.Dial(server_->port());
  other.Send("\x16\x03\x01 this is TLS\r\n\r\n");
  EXPECT_EQ(other.ReadAll(), "");
  EXPECT_EQ(Get("/healthz")->status, 200);
}

TEST_F(HttpServerTest, AConnectionServesOneRequestAfterAnother) {
  httplib::Client client("127.0.0.1", server_->port());
  client.set_keep_alive(true);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(client.Get("/healthz?x=1")->body, "ok\n");
  auto head = client.Head("/");
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->get_header_value("Content-Length"), std::to_string(std::string(kPage).size()));
  EXPECT_EQ(client.Get("/")->body, kPage);
}

TEST_F(HttpServerTest, EndsWithConnectionsOpenAndAnswersUnderWay) {
  Connection idle;
  idle.Dial(server_->port());
  wait_ = [] { absl::SleepFor(absl::Milliseconds(100)); };
  std::thread asking([port = server_->port()] { httplib::Client("127.0.0.1", port).Get("/api/status"); });
  absl::SleepFor(absl::Milliseconds(50));
  server_ = nullptr;
  asking.join();
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST_F(HttpServerTest, RefusesAnAddressThatIsTakenOrWrong) {
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(HttpServer::Start(taken, {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(HttpServer::Start("nonsense", {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tritond::server
