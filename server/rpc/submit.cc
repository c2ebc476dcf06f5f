// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr size_t kMaxIdempotencyKeyBytes = 256;

// What waits to be read, then to be written. Shared because std::function wants to copy.
struct Pending {
  v1::SubmitRequest request;
  ByteBudget::Hold memory;
  std::optional<proto::PreparedRequest> prepared;  // once it is read
};

absl::StatusOr<proto::PreparedRequest> PrepareSubmitted(v1::SubmitRequest& request, const CompileBroker& broker) {
  absl::StatusOr<proto::PreparedRequest> prepared =
      PrepareRequest(std::move(*request.mutable_request()), broker.config().limits);
  if (!prepared.ok()) return prepared;
  std::vector<Violation> violations = CheckCompileRequest(*prepared, broker);
  if (request.idempotency_key().size() > kMaxIdempotencyKeyBytes)
    violations.push_back({"idempotency_key", "must have at most 256 bytes"});
  if (!violations.empty()) return InvalidRequest(violations);
  return prepared;
}

// Reads the text in its turn, then writes the job down.
class SubmitReactor final : public grpc::ServerUnaryReactor {
 public:
  SubmitReactor(CompileBroker& broker, const JobDesk& jobs, v1::Job* response)
      : broker_(broker), jobs_(jobs), response_(response), turn_(broker.texts()) {}

  void Begin(const std::string& whose, std::shared_ptr<Pending> pending) {
    const uint64_t bytes = pending->request.request().ir().size();
    const TextPool::Ticket ticket =
        broker_.texts().Run(whose, bytes, [this, pending = std::move(pending)](const absl::Status& status) {
          Read(status, pending);
          Release();
        });
    if (turn_.Hold(ticket)) Drop();
    Release();
  }

  void OnCancel() override {
    if (turn_.Leave()) Drop();
  }

  void OnDone() override { Release(); }

 private:
  void Read(const absl::Status& status, const std::shared_ptr<Pending>& pending) {
    if (!status.ok()) return Finish(ToGrpc(status));
    absl::StatusOr<proto::PreparedRequest> prepared = PrepareSubmitted(pending->request, broker_);
    if (!prepared.ok()) return Finish(ToGrpc(prepared.status()));
    pending->prepared = *std::move(prepared);
    jobs_.tasks.Run([this, pending] {
      absl::StatusOr<v1::Job> job =
          jobs_.store.Submit(*pending->prepared, pending->request.idempotency_key(), broker_.KeyOf(*pending->prepared));
      if (job.ok()) *response_ = *std::move(job);
      Finish(ToGrpc(job.status()));
    });
  }

  // The caller has gone before its turn came.
  void Drop() {
    Finish(ToGrpc(WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled)));
    Release();  // In the task's place.
  }

  void Release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

  CompileBroker& broker_;
  const JobDesk jobs_;
  v1::Job* const response_;
  std::atomic<int> users_{3};  // gRPC, who began it and the task that reads
  TextTurn turn_;
};

}  // namespace

grpc::ServerUnaryReactor* Submit(CompileBroker& broker, const JobDesk& jobs, const Caller& caller,
                                 grpc::CallbackServerContext* context, const v1::SubmitRequest* request,
                                 v1::Job* response) {
  auto pending = std::make_shared<Pending>();
  pending->request = TakeRequest(request);
  ServeFor(caller, pending->request.mutable_request());
  std::optional<ByteBudget::Hold> memory = broker.budget().Take(CompileBroker::MemoryOf(pending->request.request()));
  if (!memory.has_value()) return FinishNow(context, broker.MemoryFull());
  pending->memory = *std::move(memory);
  auto* reactor = new SubmitReactor(broker, jobs, response);  // Deletes itself.
  reactor->Begin(TurnOf(caller, *context), std::move(pending));
  return reactor;
}

}  // namespace tritond::server
