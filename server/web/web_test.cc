// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "server/web/http_server.h"
#include "server/web/status_page.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RenderStatusPage, ShowsNumbersWorkersAndJobs) {
  StatusView view;
  view.version = "1.2.3";
  view.started = absl::FromUnixSeconds(1000);
  view.now = view.started + absl::Minutes(2);
  view.hits = 3;
  view.misses = 1;
  view.workers.push_back({"node/17", "local", "idle", "build", "signal 6", 4, 12, 100 << 20, 2});
  view.scheduler.recent.push_back({std::string(64, 'a'), "matmul", "cuda:90", "ci", "w1", absl::OkStatus(),
                                   absl::Milliseconds(1), absl::Milliseconds(20), view.now});
  view.stores.push_back({"blobs", "memory", 5, 2 << 20, 0});
  const std::string page = RenderStatusPage(view);
  for (const char* text : {"tritond 1.2.3", "2m", "3 hits", "75.0 %", "node/17", "100.0 MiB", "matmul", "aaaaaaaaaaaa",
                           "20.0 ms", "2.0 MiB"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(RenderStatusPage, ShowsAnErrorWithoutItsDetails) {
  StatusView view;
  absl::Status error = absl::InvalidArgumentError("unknown op");
  error.SetPayload("type", absl::Cord("binary"));
  view.scheduler.recent.push_back(
      {"k", "kernel", "t", "", "w", error, absl::ZeroDuration(), absl::ZeroDuration(), absl::Time()});
  EXPECT_THAT(RenderStatusPage(view), HasSubstr("INVALID_ARGUMENT: unknown op</span>"));
}

TEST(RenderStatusPage, EscapesWhatCallersSay) {
  StatusView view;
  view.scheduler.recent.push_back({"k", "<script>alert(1)</script>", "t", "\"><b>", "w", absl::InternalError("<i>"),
                                   absl::ZeroDuration(), absl::ZeroDuration(), absl::Time()});
  const std::string page = RenderStatusPage(view);
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("<b>\"")));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = HttpServer::Start("127.0.0.1:0", {[] { return "<p>page</p>"; }, [] { return "metric 1\n"; },
                                                     [this] { return why_; }, [this] { return degraded_; }});
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  httplib::Result Get(const char* path) { return httplib::Client("127.0.0.1", server_->port()).Get(path); }
  std::string why_, degraded_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesItsPages) {
  EXPECT_EQ(Get("/")->body, "<p>page</p>");
  EXPECT_EQ(Get("/metrics")->body, "metric 1\n");
  EXPECT_EQ(Get("/healthz")->status, 200);
  EXPECT_EQ(Get("/nothing")->status, 404);
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

TEST_F(HttpServerTest, RefusesAnAddressThatIsTakenOrWrong) {
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(HttpServer::Start(taken, {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(HttpServer::Start("nonsense", {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tritond::server
