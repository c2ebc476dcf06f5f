// SPDX-License-Identifier: Apache-2.0
// A real daemon in this process with fake workers, and real stubs to it. For tests of the API.
#ifndef TESTS_SUPPORT_DAEMON_FIXTURE_H_
#define TESTS_SUPPORT_DAEMON_FIXTURE_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"
#include "server/app/server.h"

namespace tritond::tests {

class DaemonTest : public testing::Test {
 protected:
  DaemonTest();
  ~DaemonTest() override;

  // Changes what the next Start uses. Two fake workers, TCP and HTTP on free ports, unless a test says otherwise.
  server::ServerConfig config;

  // Starts the daemon; with `wait`, until a worker is attached.
  void Start(bool wait = true);
  // Ends it, in order; the data folder stays.
  void Stop(absl::Duration grace = absl::Seconds(10));
  server::Server& daemon() { return *server_; }

  // A path in the test's own folder.
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Touch(const std::string& name) const;

  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::ArtifactService::Stub> artifacts;
  std::unique_ptr<v1::AdminService::Stub> admin;
  std::shared_ptr<grpc::Channel> channel;  // Shared by the stubs.

  static v1::CompileRequest Request(const std::string& ir = "module {}");
  static void SetOption(v1::CompileRequest* request, const std::string& name, const std::string& value);
  static void SetOption(v1::CompileRequest* request, const std::string& name, double value);

  // Calls with a deadline that only a hanging daemon misses.
  grpc::Status Compile(const v1::CompileRequest& request, v1::CompileResponse* response,
                       absl::Duration timeout = absl::Seconds(60));
  v1::GetStatsResponse Stats();
  v1::ListWorkersResponse Workers();
  // Polls until `condition` holds; fails the test after a long while.
  void Await(const std::function<bool()>& condition);

 private:
  std::string folder_;
  std::unique_ptr<server::Server> server_;
};

// The detail of a status; null when it has none of this type.
template <typename Detail>
std::unique_ptr<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  auto detail = std::make_unique<Detail>();
  if (!details.ParseFromString(status.error_details())) return nullptr;
  for (const auto& any : details.details()) {
    if (any.UnpackTo(detail.get())) return detail;
  }
  return nullptr;
}

// ErrorInfo.reason, or "".
std::string ReasonOf(const grpc::Status& status);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_DAEMON_FIXTURE_H_
