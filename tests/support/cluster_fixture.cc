// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cluster_fixture.h"

#include <httplib.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/key_files.h"

namespace tritond::tests {

void ClusterTest::SetUp() {
  if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  nodes = &RedisNodes::Shared();
  ASSERT_TRUE(nodes->ok());
  config.cluster = nodes->addresses();
  config.cluster_remember_seconds = 1;
  config.signing_key = NewSigningKey("cluster.key");
}

std::string ClusterTest::NewSigningKey(const std::string& name, server::TrustedKeys::Entry* entry) {
  const server::SigningKey key = *server::SigningKey::Generate();
  EXPECT_EQ(server::WriteSigningKey(Path(name), key, /*replace=*/true), absl::OkStatus());
  if (entry != nullptr) *entry = {key.public_key(), name, false};
  return Path(name);
}

void ClusterTest::TearDown() { other.reset(); }

void ClusterTest::StartOther() {
  server::ServerConfig second = config;
  second.data_dir = Path("other");
  auto started = server::Server::Start(second, [](const std::string&) {});
  ASSERT_TRUE(started.ok()) << started.status();
  other = *std::move(started);
  other_compile = v1::CompileService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
}

grpc::Status ClusterTest::CompileAt(v1::CompileService::Stub& at, const v1::CompileRequest& request,
                                    v1::CompileResponse* response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  return at.Compile(&context, request, response);
}

v1::CompileResponse ClusterTest::CompileOk(v1::CompileService::Stub& at, const v1::CompileRequest& request) {
  v1::CompileResponse response;
  const grpc::Status status = CompileAt(at, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

void ClusterTest::SubmitAndAwait(const v1::CompileRequest& request, v1::JobState state) {
  grpc::ClientContext context;
  v1::SubmitRequest submit;
  *submit.mutable_request() = request;
  v1::Job job;
  ASSERT_TRUE(compile->Submit(&context, submit, &job).ok());
  Await([&] {
    grpc::ClientContext look;
    v1::GetJobRequest get;
    get.set_id(job.id());
    EXPECT_TRUE(compile->GetJob(&look, get, &job).ok());
    return job.state() == state;
  });
}

std::string ClusterTest::Get(const char* path) {
  const httplib::Result result = httplib::Client("127.0.0.1", daemon().http_port()).Get(path);
  return result ? result->body : "";
}

}  // namespace tritond::tests
