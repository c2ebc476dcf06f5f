// SPDX-License-Identifier: Apache-2.0
// Hits of short texts are answered on the thread that read the request; long texts are read in TextPool. What is left
// waits in a reactor of its own, which the caller's cancellation or deadline reaches.
#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/response.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

struct Wanted {
  v1::Delivery delivery = v1::DELIVERY_UNSPECIFIED;
  proto::PreparedRequest request;
};

// Counts what it refuses.
absl::StatusOr<Wanted> Read(CompileBroker& broker, const Caller& caller, grpc::ByteBuffer bytes) {
  v1::CompileRequest message;
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::CompileRequest>(&bytes, &message).ok()) {
    broker.metrics().Refuse(Reason::kBadRequest, TenantOf(caller));
    return WithReason(absl::InvalidArgumentError("the request is no CompileRequest"), Reason::kBadMessage);
  }
  bytes.Clear();
  ServeFor(caller, &message);
  const v1::Delivery delivery = message.delivery();
  absl::StatusOr<proto::PreparedRequest> prepared = PrepareRequest(std::move(message), broker.config().limits);
  if (!prepared.ok()) {
    broker.metrics().Refuse(ReasonOf(prepared.status()), TenantOf(caller));
    return prepared.status();
  }
  return Wanted{delivery, *std::move(prepared)};
}

class CompileReactor final : public grpc::ServerUnaryReactor {
 public:
  CompileReactor(CompileBroker& broker, const Authorizer& authorizer, Caller caller,
                 const grpc::CallbackServerContext& context, grpc::ByteBuffer* response)
      : broker_(broker),
        authorizer_(authorizer),
        caller_(std::move(caller)),
        connection_(context.peer()),
        begun_(broker.Now()),
        deadline_(DeadlineOf(context, begun_)),
        response_(response),
        turn_(broker.texts()) {}

  // Once, instead of Begin.
  void ReadLater(const std::string& whose, const grpc::ByteBuffer& bytes) {
    users_.fetch_add(1);
    const std::optional<TextPool::Ticket> ticket =
        broker_.texts().TryRun(whose, bytes.Length(), [this, bytes](const absl::Status& status) mutable {
          OnTurn(status, std::move(bytes));
          Release();
        });
    if (!ticket.has_value()) {
      Refuse(broker_.TextsFull());
      Release();
    } else if (turn_.Hold(*ticket)) {
      Drop();
    }
    Release();
  }

  void Begin(Wanted wanted) {
    delivery_ = wanted.delivery;
    std::shared_ptr<CompileCall> call =
        broker_.Compile(std::move(wanted.request), deadline_,
                        [this](absl::StatusOr<CompileAnswer> answer) { OnAnswer(std::move(answer)); });
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      call_ = call;
      cancelled = cancelled_;
    }
    if (cancelled) call->Cancel();
  }

  void OnCancel() override {
    authorizer_.OnCancel(connection_, broker_.Now() - begun_);
    if (turn_.Leave()) return Drop();
    std::shared_ptr<CompileCall> call;
    {
      absl::MutexLock lock(&mu_);
      cancelled_ = true;
      call = call_;
    }
    if (call != nullptr) call->Cancel();
  }

  void OnDone() override { Release(); }

  // The RPC may be over before those who work for it return; the last one deletes.
  void Release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

 private:
  void OnTurn(const absl::Status& status, grpc::ByteBuffer bytes) {
    if (!status.ok()) return Refuse(status);
    if (turn_.left()) return FinishCancelled();
    absl::StatusOr<Wanted> wanted = Read(broker_, caller_, std::move(bytes));
    if (!wanted.ok()) return Finish(ToGrpc(wanted.status()));
    delivery_ = wanted->delivery;
    std::optional<absl::StatusOr<CompileAnswer>> stored = broker_.TryStored(wanted->request);
    if (stored.has_value()) return OnAnswer(*std::move(stored));
    Begin(*std::move(wanted));
  }

  // The caller has gone before its turn came.
  void Drop() {
    FinishCancelled();
    Release();  // In the task's place.
  }

  void FinishCancelled() {
    broker_.metrics().Cancel(TenantOf(caller_));
    Finish(ToGrpc(WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled)));
  }

  void Refuse(const absl::Status& status) {
    broker_.metrics().Refuse(ReasonOf(status), TenantOf(caller_));
    Finish(ToGrpc(status));
  }

  void OnAnswer(absl::StatusOr<CompileAnswer> answer) {
    if (!answer.ok()) return Finish(ToGrpc(answer.status()));
    *response_ = EncodeResponse(*answer, delivery_, broker_.config().store.inline_bytes);
    Finish(grpc::Status::OK);
  }

  CompileBroker& broker_;
  const Authorizer& authorizer_;
  const Caller caller_;
  const std::string connection_;
  const absl::Time begun_;
  const absl::Time deadline_;
  grpc::ByteBuffer* const response_;
  v1::Delivery delivery_ = v1::DELIVERY_UNSPECIFIED;  // set before anybody may answer
  std::atomic<int> users_{2};                         // gRPC, who made it and a task that reads
  TextTurn turn_;
  absl::Mutex mu_;
  std::shared_ptr<CompileCall> call_ ABSL_GUARDED_BY(mu_);  // Shared with what it waits for.
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerUnaryReactor* Compile(CompileBroker& broker, const Authorizer& authorizer, const Caller& caller,
                                  grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) {
  grpc::ByteBuffer bytes = TakeRequest(request);
  const auto wait = [&] {  // Deletes itself.
    return new CompileReactor(broker, authorizer, caller, *context, response);
  };
  if (bytes.Length() > TextPool::kInlineBytes) {
    CompileReactor* reactor = wait();
    reactor->ReadLater(TurnOf(caller, *context), bytes);
    return reactor;
  }
  absl::StatusOr<Wanted> wanted = Read(broker, caller, std::move(bytes));
  if (!wanted.ok()) return FinishNow(context, wanted.status());
  std::optional<absl::StatusOr<CompileAnswer>> stored = broker.TryStored(wanted->request);
  if (stored.has_value()) {
    if (stored->ok()) *response = EncodeResponse(**stored, wanted->delivery, broker.config().store.inline_bytes);
    return FinishNow(context, stored->status());
  }
  CompileReactor* reactor = wait();
  reactor->Begin(*std::move(wanted));
  reactor->Release();
  return reactor;
}

}  // namespace tritond::server
