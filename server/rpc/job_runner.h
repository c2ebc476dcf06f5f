// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_JOB_RUNNER_H_
#define SERVER_RPC_JOB_RUNNER_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/jobs/job_book.h"
#include "server/rpc/engine.h"

namespace tritond::server {

// Runs submitted jobs as calls of the engine without a deadline. That the queue is full, that no worker is there, or
// that the daemon drains, decides nothing about a job. Thread-safe.
class EngineJobRunner final : public JobRunner {
 public:
  explicit EngineJobRunner(Engine& engine) : engine_(engine) {}

  std::string KeyOf(const v1::CompileRequest& request) override;
  void Start(const std::string& id, const v1::CompileRequest& request, Done done) override;
  void Stop(const std::string& id) override;

 private:
  Engine& engine_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<CompileCall>> calls_ ABSL_GUARDED_BY(mu_);  // null: has ended
};

}  // namespace tritond::server

#endif  // SERVER_RPC_JOB_RUNNER_H_
