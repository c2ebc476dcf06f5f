// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CALL_LOG_H_
#define SERVER_RPC_CALL_LOG_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::server {

// A call that has ended. Nothing in it is the caller's word: neither headers nor messages.
struct CallRecord {
  std::string method;  // "/tritond.v1.CompileService/Compile"
  std::string peer;    // "unix", "tls", "tcp"
  std::string code;    // "OK", "NOT_FOUND", …
  bool failed = false;
  absl::Duration duration;  // until its status was sent
  uint64_t left_out = 0;    // calls before it that were too many to tell of
};

// Tells of every call when its status is sent: of those that failed, and with `all` of the others too. NOT_FOUND is an
// answer, and no failure. At most `per_second` calls a second are told of. Thread-safe.
class CallLog final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  struct Config {
    bool all = false;
    int per_second = 100;
  };
  // `tell` is called from gRPC's threads.
  CallLog(Config config, std::function<void(const CallRecord&)> tell);

  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override;

  // Whether a call with this status is told of; if so, with how many were left out before it.
  bool Wants(grpc::StatusCode code, absl::Time now, uint64_t* left_out);
  void Tell(const CallRecord& record) const { tell_(record); }

 private:
  const Config config_;
  const std::function<void(const CallRecord&)> tell_;
  absl::Mutex mu_;
  int64_t second_ ABSL_GUARDED_BY(mu_) = 0;
  int told_ ABSL_GUARDED_BY(mu_) = 0;  // in that second
  uint64_t left_out_ ABSL_GUARDED_BY(mu_) = 0;
};

// "OK", "NOT_FOUND", …
std::string CodeName(grpc::StatusCode code);

}  // namespace tritond::server

#endif  // SERVER_RPC_CALL_LOG_H_
