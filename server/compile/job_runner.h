// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_JOB_RUNNER_H_
#define SERVER_COMPILE_JOB_RUNNER_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/compile/compile_broker.h"
#include "server/jobs/job_store.h"

namespace tritond::server {

// Runs submitted jobs as calls of the broker without a deadline. A full queue, a draining
// daemon and a missing worker decide nothing about a job. Of the memory for what
// waits, such jobs have at most half, so that callers find room beside them. Thread-safe.
class BrokerJobRunner final : public JobRunner {
 public:
  explicit BrokerJobRunner(CompileBroker& broker) : broker_(broker), share_(broker.budget().limit() / 2) {}

  bool HasRoom(uint64_t request_bytes) override;
  bool MayRun(const std::string& target) override;
  void Start(const std::string& id, JobRequest request, Keyed keyed, Done done) override;
  void Stop(const std::string& id) override;

 private:
  struct Call {
    std::shared_ptr<CompileCall> call;  // Shared with what it waits for; null until it has begun.
    bool stopped = false;
    ByteBudget::Hold part;  // of the share
  };
  struct Pending;

  // The text's turn has come.
  void Read(const std::string& id, const absl::Status& status, Pending& pending);
  void End(const std::string& id, const Done& done, JobEnd end);
  // True when Stop was called.
  bool IsStopped(const std::string& id);

  CompileBroker& broker_;
  ByteBudget share_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Call> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_JOB_RUNNER_H_
