// SPDX-License-Identifier: Apache-2.0
// Its texts are read in TextPool. A batch keeps a bounded number of compiles in flight, so that a large one neither
// fills the queue nor is refused by it. Its memory is taken as a whole before it begins, and each request's part goes
// with that request. Where there is no room for it, what is stored is answered and the rest refused.
#include <atomic>
#include <deque>
#include <map>
#include <set>

#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr size_t kMaxInFlight = 64;  // answers that wait to be sent included

class BatchReactor final : public grpc::ServerWriteReactor<v1::CompileBatchResponse> {
 public:
  BatchReactor(CompileBroker& broker, std::string turn, absl::Time deadline, v1::CompileBatchRequest batch)
      : broker_(broker), turn_(std::move(turn)), deadline_(deadline), batch_(std::move(batch)) {
    uint64_t bytes = 0;
    for (const v1::CompileRequest& request : batch_.requests()) {
      deliveries_.push_back(request.delivery());
      bytes += CompileBroker::MemoryOf(request);
    }
    memory_ = broker_.budget().Take(bytes);
  }

  // Starts what may be started, and holds the reactor while it does.
  void Pump() {
    users_.fetch_add(1);
    for (int index = Take(); index >= 0; index = TakeNext()) StartOne(index);
    Release();
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mu_);
      ready_.pop_front();
      writing_ = false;
      if (!ok) cancelled_ = true;
      WriteOrFinishLocked();
    }
    Pump();
  }

  void OnCancel() override {
    std::map<int, std::shared_ptr<CompileCall>> calls;
    std::map<int, TextPool::Ticket> tickets;
    {
      absl::MutexLock lock(&mu_);
      cancelled_ = true;
      calls = calls_;
      tickets = tickets_;
    }
    for (auto& [index, call] : calls) call->Cancel();
    for (const auto& [index, ticket] : tickets) Leave(index, ticket);
    absl::MutexLock lock(&mu_);
    WriteOrFinishLocked();
  }

  void OnDone() override { Release(); }

 private:
  // The next request to start; -1 when there is none now or another thread is at it.
  int Take() {
    absl::MutexLock lock(&mu_);
    if (pumping_) return -1;
    pumping_ = true;
    return TakeLocked();
  }
  int TakeNext() {
    absl::MutexLock lock(&mu_);
    return TakeLocked();
  }
  int TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!cancelled_ && next_ < batch_.requests_size() && in_flight_ + ready_.size() < kMaxInFlight) {
      ++in_flight_;
      return next_++;
    }
    pumping_ = false;
    WriteOrFinishLocked();
    return -1;
  }

  // A request on its way from the batch to its compile. Shared because std::function wants to copy.
  struct Pending {
    v1::CompileRequest request;
    std::optional<ByteBudget::Hold> memory;
  };

  void StartOne(int index) {
    auto pending = std::make_shared<Pending>();
    pending->request.Swap(batch_.mutable_requests(index));
    if (memory_.has_value()) pending->memory = memory_->Split(CompileBroker::MemoryOf(pending->request));
    users_.fetch_add(1);
    const TextPool::Ticket ticket =
        broker_.texts().Run(turn_, pending->request.ir().size(), [this, index, pending](const absl::Status& status) {
          OnTurn(index, status, *pending);
          Pump();
          Release();
        });
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      if (begun_.count(index) == 0) tickets_[index] = ticket;
      cancelled = cancelled_;
    }
    if (cancelled) Leave(index, ticket);
  }

  // The caller has gone. The thread that takes the ticket away answers in the task's place.
  void Leave(int index, TextPool::Ticket ticket) {
    if (!broker_.texts().Drop(ticket)) return;
    OnAnswer(index, WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled));
    Release();
  }

  // What ends it without a compile, or nothing when one has begun.
  std::optional<absl::StatusOr<CompileAnswer>> BeginCompile(int index, Pending pending) {
    const std::string tenant = pending.request.tenant();
    const auto refuse = [&](const absl::Status& status) {
      broker_.metrics().Refuse(ReasonOf(status), tenant);
      return status;
    };
    absl::StatusOr<proto::PreparedRequest> prepared =
        PrepareRequest(std::move(pending.request), broker_.config().limits);
    if (!prepared.ok()) return refuse(prepared.status());
    std::optional<absl::StatusOr<CompileAnswer>> stored = broker_.TryStored(*prepared);
    if (stored.has_value()) return stored;
    if (!pending.memory.has_value()) return refuse(broker_.MemoryFull());
    users_.fetch_add(1);
    std::shared_ptr<CompileCall> call = broker_.Compile(
        *std::move(prepared), deadline_,
        [this, index](absl::StatusOr<CompileAnswer> answer) {
          OnAnswer(index, std::move(answer));
          Pump();
          Release();
        },
        /*job_id=*/"", *std::move(pending.memory));
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      if (answered_.count(index) == 0) calls_[index] = call;
      cancelled = cancelled_;
    }
    if (cancelled) call->Cancel();
    return std::nullopt;
  }

  void OnTurn(int index, const absl::Status& status, Pending& pending) {
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      tickets_.erase(index);
      begun_.insert(index);
      cancelled = cancelled_;
    }
    if (cancelled) return OnAnswer(index, WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled));
    if (!status.ok()) return OnAnswer(index, status);
    std::optional<absl::StatusOr<CompileAnswer>> answer = BeginCompile(index, std::move(pending));
    if (answer.has_value()) OnAnswer(index, *std::move(answer));
  }

  void OnAnswer(int index, absl::StatusOr<CompileAnswer> answer) {
    v1::CompileBatchResponse response;
    response.set_index(index);
    if (answer.ok()) {
      *response.mutable_response() = ToMessage(*answer, deliveries_[index], broker_.config().store.inline_bytes);
    } else {
      *response.mutable_failure() = ToFailure(answer.status());
    }
    absl::MutexLock lock(&mu_);
    answered_.insert(index);
    calls_.erase(index);
    --in_flight_;
    ready_.push_back(std::move(response));
    WriteOrFinishLocked();
  }

  void WriteOrFinishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (writing_ || finished_ || pumping_) return;
    const bool over = in_flight_ == 0 && ready_.empty() && next_ >= batch_.requests_size();
    if (over || (cancelled_ && in_flight_ == 0)) {
      finished_ = true;
      Finish(cancelled_ ? ToGrpc(absl::CancelledError("the caller has gone")) : grpc::Status::OK);
    } else if (!ready_.empty() && !cancelled_) {
      writing_ = true;
      StartWrite(&ready_.front());
    }
  }

  void Release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

  CompileBroker& broker_;
  const std::string turn_;
  const absl::Time deadline_;
  v1::CompileBatchRequest batch_;           // Requests leave it as they are started, one thread at a time.
  std::optional<ByteBudget::Hold> memory_;  // of those that have not been
  std::vector<v1::Delivery> deliveries_;
  std::atomic<int> users_{1};  // gRPC, running Pumps, texts that wait to be read and waiting calls

  absl::Mutex mu_;
  int next_ ABSL_GUARDED_BY(mu_) = 0;
  size_t in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  bool pumping_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<v1::CompileBatchResponse> ready_ ABSL_GUARDED_BY(mu_);
  std::map<int, std::shared_ptr<CompileCall>> calls_ ABSL_GUARDED_BY(mu_);  // Shared with what they wait for.
  std::map<int, TextPool::Ticket> tickets_ ABSL_GUARDED_BY(mu_);            // of texts that wait to be read
  std::set<int> begun_ ABSL_GUARDED_BY(mu_);                                // whose turn has come
  std::set<int> answered_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

grpc::ServerWriteReactor<v1::CompileBatchResponse>* CompileBatch(CompileBroker& broker, const Caller& caller,
                                                                 grpc::CallbackServerContext* context,
                                                                 const v1::CompileBatchRequest* request) {
  v1::CompileBatchRequest batch = TakeRequest(request);
  for (v1::CompileRequest& one : *batch.mutable_requests()) ServeFor(caller, &one);
  // Deletes itself.
  auto* reactor =
      new BatchReactor(broker, TurnOf(caller, *context), DeadlineOf(*context, broker.Now()), std::move(batch));
  reactor->Pump();
  return reactor;
}

}  // namespace tritond::server
