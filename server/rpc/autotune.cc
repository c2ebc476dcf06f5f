// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "server/rpc/authorizer.h"
#include "server/rpc/blocking_stream.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

using Writer = BlockingWriter<v1::AutotuneResponse>;

// How long a caller's departure goes unnoticed.
constexpr absl::Duration kLook = absl::Milliseconds(100);

// The RPC's caller, who hears of waits on the stream.
class StreamCaller final : public WaitingCaller {
 public:
  StreamCaller(grpc::CallbackServerContext& context, Writer& writer) : context_(context), writer_(writer) {}
  bool IsGone() override { return context_.IsCancelled(); }
  void OnWait(const std::string& why) override {
    v1::AutotuneResponse event;
    event.set_waiting(why);
    writer_.Write(event);
  }

 private:
  grpc::CallbackServerContext& context_;
  Writer& writer_;
};

absl::Status Follow(TuningProgress& progress, bool joined, grpc::CallbackServerContext& context, Writer& writer) {
  for (size_t number = 0; !context.IsCancelled();) {
    std::optional<v1::AutotuneResponse> event = progress.Await(number, kLook);
    if (event.has_value()) {
      ++number;
      if (joined && event->cache() == v1::CACHE_STATUS_MISS) event->set_cache(v1::CACHE_STATUS_JOINED);
      if (!writer.Write(*event)) break;
    } else if (std::optional<absl::Status> end = progress.Ended(); end.has_value()) {
      if (std::optional<v1::AutotuneResponse> last = progress.Await(number, absl::ZeroDuration())) continue;
      return *end;
    }
  }
  return absl::CancelledError("the caller has gone");
}

}  // namespace

grpc::ServerWriteReactor<v1::AutotuneResponse>* Autotune(TuningDesk& tunings, const Caller& caller, StreamSlots& slots,
                                                         grpc::CallbackServerContext* context,
                                                         const v1::AutotuneRequest* request) {
  if (!slots.Take()) {
    return new FailedWriter<v1::AutotuneResponse>(WithReason(
        absl::ResourceExhaustedError("too many callers wait for tunings"), Reason::kTuningsFull, absl::Seconds(10)));
  }
  auto message = std::make_shared<v1::AutotuneRequest>(TakeRequest(request));  // Shared because std::function copies.
  if (!TenantOf(caller).empty()) message->set_tenant(TenantOf(caller));
  return new Writer(slots, *context, [&tunings, message, context](Writer& writer) -> absl::Status {
    bool joined = false;
    StreamCaller caller(*context, writer);
    absl::StatusOr<std::shared_ptr<TuningProgress>> progress = tunings.Begin(std::move(*message), caller, &joined);
    if (!progress.ok()) return progress.status();
    const absl::Status status = Follow(**progress, joined, *context, writer);
    (*progress)->Leave();
    return status;
  });
}

}  // namespace tritond::server
