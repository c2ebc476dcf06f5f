// SPDX-License-Identifier: Apache-2.0
// Daemons in this process that share an engine of three nodes. For tests of the API.
#ifndef TESTS_SUPPORT_CLUSTER_FIXTURE_H_
#define TESTS_SUPPORT_CLUSTER_FIXTURE_H_

#include <memory>
#include <string>

#include "server/provenance/trusted_keys.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/redis_fixture.h"

namespace tritond::tests {

class ClusterTest : public DaemonTest {
 protected:
  // Skips where there is no engine to start.
  void SetUp() override;
  void TearDown() override;

  // Makes a signing key, in place of one of the same name, and gives its file; `entry` is its line for lists of trusted
  // keys. All daemons have the same one unless a test says otherwise.
  std::string NewSigningKey(const std::string& name, server::TrustedKeys::Entry* entry = nullptr);
  // Another daemon with a folder of its own.
  void StartOther();
  static grpc::Status CompileAt(v1::CompileService::Stub& at, const v1::CompileRequest& request,
                                v1::CompileResponse* response);
  static v1::CompileResponse CompileOk(v1::CompileService::Stub& at, const v1::CompileRequest& request);
  // A job of the first daemon, until it is in this state.
  void SubmitAndAwait(const v1::CompileRequest& request, v1::JobState state);
  // A page of the first daemon.
  std::string Get(const char* path);

  std::unique_ptr<RedisNodes> own_nodes;  // of a test that does not share RedisNodes::Shared
  RedisNodes* nodes = nullptr;
  std::unique_ptr<server::Server> other;
  std::unique_ptr<v1::CompileService::Stub> other_compile;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_CLUSTER_FIXTURE_H_
