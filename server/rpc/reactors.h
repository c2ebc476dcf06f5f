// SPDX-License-Identifier: Apache-2.0
// Small pieces that the RPCs share.
#ifndef SERVER_RPC_REACTORS_H_
#define SERVER_RPC_REACTORS_H_

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/rpc/status.h"

namespace tritond::server {

// Ends a unary RPC at once.
inline grpc::ServerUnaryReactor* FinishNow(grpc::CallbackServerContext* context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

// A stream that ends with an error before it begins. Each deletes itself.
template <typename Response>
class FailedWriter final : public grpc::ServerWriteReactor<Response> {
 public:
  explicit FailedWriter(const absl::Status& status) { this->Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

template <typename Request>
class FailedReader final : public grpc::ServerReadReactor<Request> {
 public:
  explicit FailedReader(const absl::Status& status) { this->Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

// Takes a request out of gRPC's hands, which would keep it, with all its bytes, until the call's end. gRPC made the
// message for this call and does not look at it any more.
template <typename Message>
Message TakeRequest(const Message* request) {
  Message taken;
  taken.Swap(const_cast<Message*>(request));
  return taken;
}

// By the clock that shows `now`; InfiniteFuture when the caller set none. gRPC knows how much time is left by a clock
// that nobody sets. Told as a time of day, it would be compared with Abseil's idea of that. Abseil follows a wall clock
// that is set back only seconds later: calls would have no time left meanwhile.
inline absl::Time DeadlineOf(const grpc::CallbackServerContext& context, absl::Time now) {
  const gpr_timespec left = gpr_convert_clock_type(context.raw_deadline(), GPR_TIMESPAN);
  if (gpr_time_cmp(left, gpr_inf_future(GPR_TIMESPAN)) == 0) return absl::InfiniteFuture();
  return now + absl::Seconds(left.tv_sec) + absl::Nanoseconds(left.tv_nsec);
}

}  // namespace tritond::server

#endif  // SERVER_RPC_REACTORS_H_
