// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_COMPILE_CALL_H_
#define SERVER_COMPILE_COMPILE_CALL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/compile/compile_broker.h"

namespace tritond::server {

// One caller's wait for one compile: first for a worker that offers the target, then for the job, or for both at once.
// Thread-safe; kept alive by whatever it waits for.
//
// It takes the memory of its request from the broker's budget and hands both to the job that it makes. One that joins a
// job keeps neither. Where the budget has no room it may still join.
class CompileCall final : public std::enable_shared_from_this<CompileCall> {
 public:
  // What a call costs besides its request: gRPC's part, and ours.
  static constexpr uint64_t kCallBytes = uint64_t{16} << 10;

  // `id` names the job if this call makes it; "": a new name. `memory`: see CompileBroker::Compile.
  CompileCall(CompileBroker& broker, proto::PreparedRequest request, absl::Time deadline, std::string id,
              CompileBroker::Answered answered, ByteBudget::Hold memory);

  // Called once, by CompileBroker::Compile.
  void Begin();
  // The caller has gone; it is answered with Cancelled unless it has been answered.
  void Cancel();

 private:
  struct HeldRequest {
    proto::PreparedRequest prepared;
    ByteBudget::Hold memory;
  };

  std::shared_ptr<const proto::PreparedRequest> Prepared() const;
  // False when there is no room.
  bool TakeMemory();
  // Answers with a result of any build, where no worker comes; false when none is stored.
  bool AnswerStored();
  // Waits for the job in flight under the key, and fails when there is none.
  void JoinOnly();
  void AwaitWorker();
  // In a cluster another daemon may have a worker for a target that has none here. The job is queued for it, under the
  // build that was here last. Meanwhile the call goes on waiting for a worker of its own daemon.
  void SubmitToOthers();
  void OnArrival(TargetCatalog::Arrival arrival);
  // Queues the job for a worker with this target's build.
  void Submit(const KnownTarget& target);
  void SubmitSpec(JobSpec spec, Scheduler::Recheck recheck);
  void Count(const Outcome& outcome, bool joined);
  void OnOutcome(const Outcome& outcome, bool joined);
  void Answer(absl::StatusOr<CompileAnswer> answer);
  // Counts the refusal too.
  void Refuse(const absl::Status& status);
  absl::Status NoWorker() const;
  absl::Status UnknownTarget() const;

  CompileBroker& broker_;
  const std::string id_;
  const proto::SourceMap source_;
  ByteBudget::Hold memory_;               // of the call itself
  std::shared_ptr<HeldRequest> request_;  // Null once the job has it, with which it is shared until then.
  std::string tenant_;
  JobClass job_class_ = JobClass::kInteractive;
  const absl::Time deadline_;
  std::string key_;
  std::string build_for_others_;          // "": SubmitToOthers was not called
  std::vector<std::string> stored_keys_;  // what AnswerStored looks for

  absl::Mutex mu_;
  CompileBroker::Answered answered_ ABSL_GUARDED_BY(mu_);  // null once called
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  TargetCatalog::WaiterId arrival_waiter_ ABSL_GUARDED_BY(mu_) = 0;
  Scheduler::WaiterId job_waiter_ ABSL_GUARDED_BY(mu_) = 0;
};

// The violations of a request, as admission sees them.
std::vector<Violation> CheckCompileRequest(const proto::PreparedRequest& prepared, const CompileBroker& broker);

// The job of a request, which its payload shares.
JobSpec SpecOf(const std::shared_ptr<const proto::PreparedRequest>& prepared, const std::string& key,
               const std::string& build_id);

// What the scheduler carries for a compile.
struct CompilePayload final : Payload {
  explicit CompilePayload(std::shared_ptr<const v1::CompileRequest> compile) : request(std::move(compile)) {}
  std::shared_ptr<const v1::CompileRequest> request;  // canonical; shared with the call that made it
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_COMPILE_CALL_H_
