// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "google/protobuf/util/time_util.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "server/tunings/tuning_name.h"

namespace tritond::server {
namespace {

using google::protobuf::util::TimeUtil;

// Waits for the desk's answer; the caller's cancellation or deadline reaches it.
class AcquireReactor final : public grpc::ServerUnaryReactor {
 public:
  AcquireReactor(ProgramTuningDesk& desk, v1::AcquireProgramTuningResponse* response)
      : desk_(desk), response_(response) {}

  void Begin(const cache::Digest& key, absl::Duration wait, bool may_measure) {
    const uint64_t waiter = desk_.Acquire(key, wait, may_measure,
                                          [this](ProgramTuningDesk::Answer answer) { OnAnswer(std::move(answer)); });
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      waiter_ = waiter;
      cancelled = cancelled_;
    }
    if (cancelled) Leave(waiter);
    Release();
  }

  void OnCancel() override {
    uint64_t waiter;
    {
      absl::MutexLock lock(&mu_);
      cancelled_ = true;
      waiter = waiter_;
    }
    Leave(waiter);
  }

  void OnDone() override { Release(); }

 private:
  void OnAnswer(ProgramTuningDesk::Answer answer) {
    if (answer.stored.has_value()) *response_->mutable_stored() = *std::move(answer.stored);
    if (!answer.ticket.empty()) {
      response_->set_ticket(std::move(answer.ticket));
      *response_->mutable_ticket_lifetime() =
          TimeUtil::MillisecondsToDuration(absl::ToInt64Milliseconds(desk_.config().ticket_lifetime));
    }
    Finish(grpc::Status::OK);
  }

  void Leave(uint64_t waiter) {
    if (waiter != 0 && desk_.Leave(waiter)) Finish(ToGrpc(absl::CancelledError("the caller has gone")));
  }

  // The RPC may be over before Begin returns; the last user deletes.
  void Release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

  ProgramTuningDesk& desk_;
  v1::AcquireProgramTuningResponse* const response_;
  std::atomic<int> users_{2};
  absl::Mutex mu_;
  uint64_t waiter_ ABSL_GUARDED_BY(mu_) = 0;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerUnaryReactor* AcquireProgramTuning(CompileBroker& broker, ProgramTuningDesk& desk, const Caller& caller,
                                               grpc::CallbackServerContext* context,
                                               const v1::AcquireProgramTuningRequest* request,
                                               v1::AcquireProgramTuningResponse* response) {
  std::vector<Violation> wrong = CheckTuningKey(request->key());
  const auto& wait = request->wait();
  if (wait.seconds() < 0 || wait.nanos() < 0) wrong.push_back({"wait", "is negative"});
  if (!wrong.empty()) return FinishNow(context, InvalidRequest(wrong));
  auto* reactor = new AcquireReactor(desk, response);  // Deletes itself.
  reactor->Begin(NameTuning(broker, caller, request->key()),
                 absl::Seconds(wait.seconds()) + absl::Nanoseconds(wait.nanos()), Allows(caller.role, Need::kCompile));
  return reactor;
}

}  // namespace tritond::server
