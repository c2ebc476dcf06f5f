// SPDX-License-Identifier: Apache-2.0
// Hits are answered on the thread that read the request; the rest waits in a reactor of its own, which the caller's
// cancellation or deadline reaches.
#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/rpc/compile_call.h"
#include "server/rpc/gate.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "server/rpc/source_places.h"

namespace tritond::server {
namespace {

class CompileReactor final : public grpc::ServerUnaryReactor {
 public:
  CompileReactor(Engine& engine, v1::Delivery delivery, grpc::ByteBuffer* response)
      : engine_(engine), delivery_(delivery), response_(response) {}

  void Begin(proto::PreparedRequest request, absl::Time deadline) {
    std::shared_ptr<CompileCall> call = engine_.Compile(
        std::move(request), deadline, [this](absl::StatusOr<CompileAnswer> answer) { OnAnswer(std::move(answer)); });
    bool cancelled;
    {
      absl::MutexLock lock(&mu_);
      call_ = call;
      cancelled = cancelled_;
    }
    if (cancelled) call->Cancel();
    Release();
  }

  void OnCancel() override {
    std::shared_ptr<CompileCall> call;
    {
      absl::MutexLock lock(&mu_);
      cancelled_ = true;
      call = call_;
    }
    if (call != nullptr) call->Cancel();
  }

  void OnDone() override { Release(); }

 private:
  void OnAnswer(absl::StatusOr<CompileAnswer> answer) {
    if (!answer.ok()) return Finish(ToGrpc(answer.status()));
    *response_ = EncodeResponse(*answer, delivery_, engine_.config().store.inline_bytes);
    Finish(grpc::Status::OK);
  }

  // The RPC may be over before Begin returns; whoever is last deletes.
  void Release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

  Engine& engine_;
  const v1::Delivery delivery_;
  grpc::ByteBuffer* const response_;
  std::atomic<int> users_{2};
  absl::Mutex mu_;
  std::shared_ptr<CompileCall> call_ ABSL_GUARDED_BY(mu_);  // Shared with what it waits for.
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerUnaryReactor* Compile(Engine& engine, const Caller& caller, grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  v1::CompileRequest message;
  grpc::ByteBuffer bytes = TakeRequest(request);
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::CompileRequest>(&bytes, &message).ok()) {
    engine.metrics().Refuse("BAD_REQUEST", TenantOf(caller));
    return FinishNow(context,
                     WithReason(absl::InvalidArgumentError("the request is no CompileRequest"), "BAD_MESSAGE"));
  }
  ServeFor(caller, &message);
  const v1::Delivery delivery = message.delivery();
  absl::StatusOr<proto::PreparedRequest> prepared = PrepareRequest(std::move(message), engine.config().limits);
  if (!prepared.ok()) {
    engine.metrics().Refuse(ReasonOf(prepared.status()), TenantOf(caller));
    return FinishNow(context, prepared.status());
  }
  std::optional<absl::StatusOr<CompileAnswer>> stored = engine.TryStored(*prepared);
  if (stored.has_value()) {
    if (stored->ok()) *response = EncodeResponse(**stored, delivery, engine.config().store.inline_bytes);
    return FinishNow(context, stored->status());
  }
  auto* reactor = new CompileReactor(engine, delivery, response);  // Deletes itself.
  reactor->Begin(*std::move(prepared), DeadlineOf(*context, engine.Now()));
  return reactor;
}

}  // namespace tritond::server
