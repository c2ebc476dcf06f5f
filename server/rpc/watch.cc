// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

// Sends a job's states as they come. A caller that reads slowly misses states between, never the last one. Kept alive
// by the RPC and by the store's calls, which may come while the RPC ends.
class WatchReactor final : public grpc::ServerWriteReactor<v1::Job>, public std::enable_shared_from_this<WatchReactor> {
 public:
  explicit WatchReactor(JobStore& store) : store_(store) {}

  // Before the RPC's handler returns, so before any reaction.
  void Begin(const std::string& id) {
    self_ = shared_from_this();
    absl::StatusOr<uint64_t> watch =
        store_.Watch(id, [self = shared_from_this()](const v1::Job& job) { self->OnChange(job); });
    if (watch.ok()) watch_ = *watch;
    absl::MutexLock lock(&mu_);
    if (!watch.ok()) FinishLocked(watch.status());
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mu_);
    writing_ = false;
    if (!ok || cancelled_) {
      FinishLocked(absl::CancelledError("the caller has gone"));
    } else if (next_.has_value()) {
      WriteLocked();
    } else if (JobStore::HasEnded(sent_.state())) {
      FinishLocked(absl::OkStatus());
    }
  }

  void OnCancel() override {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
    if (!writing_) FinishLocked(absl::CancelledError("the caller has gone"));
  }

  void OnDone() override {
    store_.Unwatch(watch_);
    self_.reset();
  }

 private:
  void OnChange(const v1::Job& job) {
    absl::MutexLock lock(&mu_);
    if (finished_) return;
    next_ = job;
    if (!writing_) WriteLocked();
  }
  void WriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    writing_ = true;
    sent_ = *std::move(next_);
    next_.reset();
    StartWrite(&sent_);
  }
  void FinishLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (finished_) return;
    finished_ = true;
    Finish(ToGrpc(status));
  }

  JobStore& store_;
  uint64_t watch_ = 0;
  std::shared_ptr<WatchReactor> self_;  // Shared until the RPC is over.
  absl::Mutex mu_;
  std::optional<v1::Job> next_ ABSL_GUARDED_BY(mu_);
  v1::Job sent_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::Job>* Watch(const JobDesk& jobs, const Caller& caller,
                                         grpc::CallbackServerContext* context, const v1::WatchRequest* request) {
  absl::StatusOr<v1::Job> found = FindJob(jobs.store, caller, request->id());
  if (!found.ok()) return new FailedWriter<v1::Job>(found.status());
  auto reactor = std::make_shared<WatchReactor>(jobs.store);  // Shared with the store.
  reactor->Begin(request->id());
  return reactor.get();
}

}  // namespace tritond::server
