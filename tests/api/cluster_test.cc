// SPDX-License-Identifier: Apache-2.0
// Daemons that share an engine: what one has compiled the others do not, and when the engine is away each goes on
// alone.
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/redis_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class ClusterTest : public DaemonTest {
 protected:
  void SetUp() override {
    if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    nodes = std::make_unique<RedisNodes>(3);
    ASSERT_TRUE(nodes->ok());
    config.cluster = nodes->addresses();
  }
  void TearDown() override { other.reset(); }

  // Another daemon with a folder of its own.
  void StartOther() {
    server::ServerConfig second = config;
    second.data_dir = Path("other");
    auto started = server::Server::Start(second, [](const std::string&) {});
    ASSERT_TRUE(started.ok()) << started.status();
    other = *std::move(started);
    other_compile = v1::CompileService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
  }
  v1::CompileResponse CompileOk(v1::CompileService::Stub& at, const v1::CompileRequest& request) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    v1::CompileResponse response;
    const grpc::Status status = at.Compile(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::string Get(const char* path) {
    const httplib::Result result = httplib::Client("127.0.0.1", daemon().http_port()).Get(path);
    return result ? result->body : "";
  }

  std::unique_ptr<RedisNodes> nodes;
  std::unique_ptr<server::Server> other;
  std::unique_ptr<v1::CompileService::Stub> other_compile;
};

TEST_F(ClusterTest, WhatOneDaemonHasCompiledTheOtherDoesNot) {
  Start();
  StartOther();
  v1::CompileRequest large = Request("large");
  SetOption(&large, "artifact_bytes", 2500000);
  const v1::CompileResponse first = CompileOk(*compile, Request("kernel"));
  CompileOk(*compile, large);
  EXPECT_EQ(first.cache(), v1::CACHE_STATUS_MISS);
  // The other one hears of its target from its worker first.
  Await([&] { return CompileOk(*other_compile, Request("kernel")).cache() == v1::CACHE_STATUS_HIT; });
  const v1::CompileResponse again = CompileOk(*other_compile, Request("kernel"));
  EXPECT_EQ(again.key(), first.key());
  ASSERT_EQ(again.blobs_size(), 1);
  EXPECT_EQ(again.blobs(0).data(), first.blobs(0).data());
  // It may be on its way there still.
  EXPECT_NE(CompileOk(*other_compile, large).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(other->engine().scheduler().GetStats().started, 0u);
}

TEST_F(ClusterTest, GoesOnAloneWhenTheEngineIsAwayAndSaysSo) {
  Start();
  CompileOk(*compile, Request("before"));
  EXPECT_EQ(Get("/readyz"), "ok\n");
  EXPECT_THAT(Get("/metrics"), HasSubstr("tritond_cluster_up 1"));
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGKILL);
  EXPECT_EQ(CompileOk(*compile, Request("before")).cache(), v1::CACHE_STATUS_HIT);
  for (const char* ir : {"a", "b", "c", "d"}) {
    EXPECT_EQ(CompileOk(*compile, Request(ir)).cache(), v1::CACHE_STATUS_MISS);
    EXPECT_EQ(CompileOk(*compile, Request(ir)).cache(), v1::CACHE_STATUS_HIT);
  }
  EXPECT_THAT(Get("/readyz"), HasSubstr("ok, but the cluster's engine does not answer"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("tritond_cluster_up 0"));
}

TEST_F(ClusterTest, AStalledEngineDelaysACompileAndDoesNotStopIt) {
  Start();
  CompileOk(*compile, Request("before"));
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGSTOP);
  EXPECT_EQ(CompileOk(*compile, Request("stalled")).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(CompileOk(*compile, Request("stalled")).cache(), v1::CACHE_STATUS_HIT);
  for (int i = 0; i < 3; ++i) nodes->Signal(i, SIGCONT);
  Await([&] {
    CompileOk(*compile, Request(absl::StrCat("again ", absl::ToUnixNanos(absl::Now()))));
    return Get("/readyz") == "ok\n";
  });
}

}  // namespace
}  // namespace tritond::tests
