// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_router.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

class HttpRouterTest : public testing::Test {
 protected:
  HttpAnswer Ask(const std::string& method, const std::string& path, std::map<std::string, std::string> headers = {},
                 const std::string& peer = "127.0.0.1") {
    headers.emplace("host", "localhost:7434");
    HttpRouter::Pages pages;
    pages.page = "<p>page</p>";
    pages.api = [this](absl::string_view, const WebCaller& caller) {
      caller_ = caller;
      return WebAnswer{200, "application/json", "{}"};
    };
    pages.metrics = [](const WebCaller&) { return "metric 1\n"; };
    pages.not_ready = [this] { return why_; };
    return HttpRouter(std::move(pages), listens_locally_).Answer({method, path, headers, peer});
  }
  std::string why_;
  bool listens_locally_ = true;
  WebCaller caller_;
};

TEST_F(HttpRouterTest, EveryPathHasItsPageAndEveryOtherNone) {
  EXPECT_EQ(Ask("GET", "/").body, "<p>page</p>");
  EXPECT_EQ(Ask("HEAD", "/").status, 200);
  EXPECT_EQ(Ask("GET", "/metrics").body, "metric 1\n");
  EXPECT_EQ(Ask("GET", "/healthz").body, "ok\n");
  EXPECT_EQ(Ask("GET", "/readyz").body, "ok\n");
  EXPECT_EQ(Ask("GET", "/api/status").body, "{}");
  for (const char* path : {"", "/nothing", "/metrics/", "/api", "*", "http://elsewhere/"})
    EXPECT_EQ(Ask("GET", path).status, 404) << path;
}

TEST_F(HttpRouterTest, RequestsThatCannotBeServedAreRefused) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"})
    EXPECT_EQ(Ask(method, "/metrics").status, 405) << method;
  EXPECT_EQ(Ask("OPTIONS", "/api/jobs/1/ir").status, 405);  // So no page from elsewhere learns that it may post.
  EXPECT_EQ(Ask("POST", "/api/jobs/1/ir").status, 404);     // Without such a page.
}

TEST_F(HttpRouterTest, AProbeIsOneOfTwo) {
  EXPECT_TRUE(HttpRouter::IsProbe("/healthz") && HttpRouter::IsProbe("/readyz"));
  EXPECT_FALSE(HttpRouter::IsProbe("/metrics") || HttpRouter::IsProbe("/"));
}

TEST_F(HttpRouterTest, OnlyAnExchangeThatStaysOnThisMachineIsLocal) {
  Ask("GET", "/api/status");
  EXPECT_TRUE(caller_.local);
  Ask("GET", "/api/status", {}, "10.0.0.7");
  EXPECT_FALSE(caller_.local);
  Ask("GET", "/api/status", {}, "");
  EXPECT_FALSE(caller_.local);
  Ask("GET", "/api/status", {{"host", "evil.example"}});
  EXPECT_FALSE(caller_.local);
  Ask("GET", "/api/status", {{"via", "1.1 proxy"}});
  EXPECT_FALSE(caller_.local);
  listens_locally_ = false;
  Ask("GET", "/api/status");
  EXPECT_FALSE(caller_.local);
}

}  // namespace
}  // namespace tritond::server
