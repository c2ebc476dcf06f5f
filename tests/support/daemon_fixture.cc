// SPDX-License-Identifier: Apache-2.0
#include "tests/support/daemon_fixture.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {

DaemonTest::DaemonTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tritond-test-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  config.data_dir = Path("data");
  config.listen = {"127.0.0.1:0"};
  config.http = "127.0.0.1:0";
  config.workers = 2;
  config.worker_binary = TRITOND_FAKE_WORKER;
  config.worker_memory_mb = 2048;
  config.memory_cache_mb = 64;
}

DaemonTest::~DaemonTest() {
  if (server_ != nullptr) Stop(absl::ZeroDuration());
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

void DaemonTest::Start(bool wait) {
  auto started = server::Server::Start(config, [](const std::string& line) { std::clog << line << "\n"; });
  ASSERT_TRUE(started.ok()) << started.status();
  server_ = *std::move(started);
  channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", server_->ports()[0]), grpc::InsecureChannelCredentials());
  compile = v1::CompileService::NewStub(channel);
  artifacts = v1::ArtifactService::NewStub(channel);
  admin = v1::AdminService::NewStub(channel);
  if (!wait) return;
  Await([&] {
    int attached = 0;
    const v1::ListWorkersResponse list = Workers();
    for (const v1::Worker& worker : list.workers()) attached += worker.targets_size() > 0;
    return attached == config.workers;
  });
}

void DaemonTest::Stop(absl::Duration grace) {
  compile.reset();
  artifacts.reset();
  admin.reset();
  channel.reset();
  server_->Shutdown(grace);
  server_.reset();
}

void DaemonTest::Touch(const std::string& name) const { std::ofstream file(Path(name)); }

v1::CompileRequest DaemonTest::Request(const std::string& ir) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(ir);
  request.set_label("kernel");
  SetOption(&request, "num_warps", 4);
  return request;
}

void DaemonTest::SetOption(v1::CompileRequest* request, const std::string& name, const std::string& value) {
  (*request->mutable_options()->mutable_fields())[name].set_string_value(value);
}

void DaemonTest::SetOption(v1::CompileRequest* request, const std::string& name, double value) {
  (*request->mutable_options()->mutable_fields())[name].set_number_value(value);
}

grpc::Status DaemonTest::Compile(const v1::CompileRequest& request, v1::CompileResponse* response,
                                 absl::Duration timeout) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  return compile->Compile(&context, request, response);
}

v1::GetStatsResponse DaemonTest::Stats() {
  grpc::ClientContext context;
  v1::GetStatsRequest request;
  request.set_recent_jobs(100);
  v1::GetStatsResponse response;
  const grpc::Status status = admin->GetStats(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

v1::ListWorkersResponse DaemonTest::Workers() {
  grpc::ClientContext context;
  v1::ListWorkersResponse response;
  const grpc::Status status = admin->ListWorkers(&context, {}, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

void DaemonTest::Await(const std::function<bool()>& condition) {
  const absl::Time give_up = absl::Now() + WithinReason(absl::Seconds(30));
  while (!condition()) {
    ASSERT_LT(absl::Now(), give_up) << "waited in vain";
    std::this_thread::yield();
  }
}

std::string ReasonOf(const grpc::Status& status) {
  auto info = DetailOf<google::rpc::ErrorInfo>(status);
  return info == nullptr ? "" : info->reason();
}

}  // namespace tritond::tests
