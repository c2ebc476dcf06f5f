// SPDX-License-Identifier: Apache-2.0
// Methods whose requests are measured before they are parsed.
#ifndef SERVER_RPC_BOUNDED_METHOD_H_
#define SERVER_RPC_BOUNDED_METHOD_H_

#include <grpc/byte_buffer.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <utility>

#include "server/rpc/status.h"
#include "server/rpc/wire_check.h"

namespace tritond::server {

template <typename Request, typename Response>
struct UnaryMethod {
  using Message = Request;
  using Handler = grpc::internal::CallbackUnaryHandler<Request, Response>;
  using Reactor = grpc::ServerUnaryReactor;
  using Serve = std::function<Reactor*(grpc::CallbackServerContext*, const Request*, Response*)>;
  static Serve Refuse(grpc::Status status) {
    return [status](grpc::CallbackServerContext* context, const Request*, Response*) {
      grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
      reactor->Finish(status);
      return reactor;
    };
  }
};

template <typename Response>
class RefusingWriter final : public grpc::ServerWriteReactor<Response> {
 public:
  explicit RefusingWriter(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

template <typename Request, typename Response>
struct StreamMethod {
  using Message = Request;
  using Handler = grpc::internal::CallbackServerStreamingHandler<Request, Response>;
  using Reactor = grpc::ServerWriteReactor<Response>;
  using Serve = std::function<Reactor*(grpc::CallbackServerContext*, const Request*)>;
  static Serve Refuse(grpc::Status status) {
    return [status](grpc::CallbackServerContext*, const Request*) { return new RefusingWriter<Response>(status); };
  }
};

// Stands before gRPC's handler of a method: a request that exceeds the limits, or cannot be parsed, ends with an error
// that says so, unparsed. Method: UnaryMethod or StreamMethod.
template <typename Method>
class BoundedMethod final : public grpc::internal::MethodHandler {
 public:
  BoundedMethod(WireLimits limits, typename Method::Serve serve) : limits_(limits), handler_(std::move(serve)) {}

  void* Deserialize(grpc_call* call, grpc_byte_buffer* bytes, grpc::Status* status, void** handler_data) override {
    const absl::Status fits = CheckWire(bytes, *Method::Message::descriptor(), limits_);
    if (fits.ok()) {
      void* request = handler_.Deserialize(call, bytes, status, handler_data);
      if (!status->ok()) *status = ToGrpc(NotParsed(*Method::Message::descriptor()));
      return request;
    }
    // The handler wants a request all the same.
    grpc_byte_buffer_destroy(bytes);
    void* request = handler_.Deserialize(call, grpc_raw_byte_buffer_create(nullptr, 0), status, handler_data);
    *status = ToGrpc(fits);
    return request;
  }

  void RunHandler(const HandlerParameter& call) override {
    if (call.status.ok()) return handler_.RunHandler(call);
    typename Method::Handler refuse(Method::Refuse(call.status));
    refuse.RunHandler(HandlerParameter(call.call, call.server_context, call.request, grpc::Status::OK,
                                       call.internal_data, call.call_requester));
  }

 private:
  const WireLimits limits_;
  typename Method::Handler handler_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_BOUNDED_METHOD_H_
