// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/compile_call.h"
#include "server/rpc/gate.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "server/rpc/source_places.h"

namespace tritond::server {
namespace {

constexpr size_t kMaxIdempotencyKeyBytes = 256;
constexpr absl::Duration kRetryDelay = absl::Seconds(5);

// What waits to be written. Shared because std::function wants to copy.
struct Pending {
  v1::SubmitRequest request;  // as sent: its places are those that its caller reads
  ByteBudget::Hold memory;
};

absl::Status Check(const Engine& engine, const v1::SubmitRequest& request) {
  const absl::StatusOr<proto::PreparedRequest> prepared = PrepareRequest(request.request(), engine.config().limits);
  if (!prepared.ok()) return prepared.status();
  std::vector<Violation> violations = CheckCompileRequest(prepared->message(), engine.config().limits);
  if (request.idempotency_key().size() > kMaxIdempotencyKeyBytes)
    violations.push_back({"idempotency_key", "must have at most 256 bytes"});
  return violations.empty() ? absl::OkStatus() : InvalidRequest(violations);
}

absl::Status WithReasons(absl::Status status) {
  if (status.ErasePayload(JobBook::kNotWritten)) return WithReason(std::move(status), "NOT_WRITTEN", kRetryDelay);
  if (absl::IsAlreadyExists(status)) return WithReason(status, "IDEMPOTENCY_KEY_REUSED");
  if (absl::IsResourceExhausted(status)) return WithReason(status, "TOO_MANY_JOBS", kRetryDelay);
  return absl::IsUnavailable(status) ? WithReason(status, "NOT_WRITTEN", kRetryDelay) : status;
}

}  // namespace

grpc::ServerUnaryReactor* Submit(Engine& engine, const JobDesk& jobs, const Caller& caller,
                                 grpc::CallbackServerContext* context, const v1::SubmitRequest* request,
                                 v1::Job* response) {
  auto pending = std::make_shared<Pending>();
  pending->request = TakeRequest(request);
  ServeFor(caller, pending->request.mutable_request());
  absl::Status status = Check(engine, pending->request);
  if (!status.ok()) return FinishNow(context, status);
  std::optional<ByteBudget::Hold> memory = engine.budget().Take(Engine::MemoryOf(pending->request.request()));
  if (!memory.has_value()) return FinishNow(context, engine.MemoryFull());
  pending->memory = *std::move(memory);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  jobs.tasks.Run([&book = jobs.book, pending = std::move(pending), reactor, response] {
    absl::StatusOr<v1::Job> job = book.Submit(pending->request);
    if (job.ok()) *response = *std::move(job);
    reactor->Finish(ToGrpc(WithReasons(job.status())));
  });
  return reactor;
}

}  // namespace tritond::server
