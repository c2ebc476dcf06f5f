// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_POOL_SESSION_H_
#define WORKERS_POOL_SESSION_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/v1/worker.pb.h"

namespace tritond::workers {

// The daemon's end of one Attach stream. Keeps itself alive until the RPC is over. Others hold it by shared_ptr and may
// call it at any time and from any thread, without blocking. Its handlers run on gRPC's threads, one at a time.
class Session final : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::DaemonMessage>,
                      public std::enable_shared_from_this<Session> {
 public:
  struct Handlers {
    std::function<void(const std::shared_ptr<Session>&, v1::WorkerMessage)> on_message;
    std::function<void(const std::shared_ptr<Session>&)> on_end;  // once; nothing follows
  };

  // Owned by itself (shared) until gRPC is done with it.
  static std::shared_ptr<Session> Open(grpc::CallbackServerContext* context, Handlers handlers);

  // A stream that ends with this status before it begins.
  static std::shared_ptr<Session> Refuse(grpc::CallbackServerContext* context, const grpc::Status& status);

  // Queues a message; dropped when the stream has ended.
  void Send(v1::DaemonMessage message);
  // Ends the stream with `status`; messages that are queued but not under way are dropped. Idempotent.
  void Close(const grpc::Status& status);

  // "fd:…" for a caller on a Unix socket of this machine.
  const std::string& peer() const { return peer_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override {}
  void OnDone() override;

 private:
  Session(grpc::CallbackServerContext* context, Handlers handlers);

  grpc::CallbackServerContext* const context_;
  const Handlers handlers_;
  const std::string peer_;
  v1::WorkerMessage incoming_;
  std::shared_ptr<Session> self_;  // Shared: until OnDone.

  absl::Mutex mu_;
  std::deque<v1::DaemonMessage> outgoing_ ABSL_GUARDED_BY(mu_);  // the first is under way while writing_
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::workers

#endif  // WORKERS_POOL_SESSION_H_
