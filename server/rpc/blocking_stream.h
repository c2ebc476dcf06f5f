// SPDX-License-Identifier: Apache-2.0
// Streams whose other end is a loop on a thread of its own: for the rare RPCs that read or write much and block on the
// disk meanwhile. Each deletes itself when its RPC is over and its loop has returned. There are no more of them at once
// than slots, so that callers that begin one after the other and go on with none cost a bounded number of threads.
#ifndef SERVER_RPC_BLOCKING_STREAM_H_
#define SERVER_RPC_BLOCKING_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/rpc/status.h"
#include "server/rpc/stream_slots.h"

namespace tritond::server {

template <typename Response>
class BlockingWriter final : public grpc::ServerWriteReactor<Response> {
 public:
  // Runs `body` in a slot that was taken for it; what it returns ends the RPC.
  BlockingWriter(StreamSlots& slots, std::function<absl::Status(BlockingWriter&)> body) : slots_(slots) {
    std::thread([this, body = std::move(body)] {
      const absl::Status status = body(*this);
      this->Finish(ToGrpc(status));
      over_.WaitForNotification();
      delete this;
    }).detach();
  }
  // Waits until the message is on its way. False when nobody takes it any more.
  bool Write(const Response& message) {
    {
      absl::MutexLock lock(&mu_);
      written_ = false;
    }
    this->StartWrite(&message);
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&written_));
    return ok_;
  }
  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mu_);
    written_ = true;
    ok_ = ok;
  }
  void OnDone() override {
    slots_.GiveBack();
    over_.Notify();
  }

 private:
  StreamSlots& slots_;
  absl::Mutex mu_;
  bool written_ ABSL_GUARDED_BY(mu_) = false;
  bool ok_ ABSL_GUARDED_BY(mu_) = false;
  absl::Notification over_;
};

template <typename Request>
class BlockingReader final : public grpc::ServerReadReactor<Request> {
 public:
  BlockingReader(StreamSlots& slots, std::function<absl::Status(BlockingReader&)> body) : slots_(slots) {
    std::thread([this, body = std::move(body)] {
      const absl::Status status = body(*this);
      this->Finish(ToGrpc(status));
      over_.WaitForNotification();
      delete this;
    }).detach();
  }
  // Waits for the next message. False when there is none any more.
  bool Read(Request* message) {
    {
      absl::MutexLock lock(&mu_);
      read_ = false;
    }
    this->StartRead(message);
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&read_));
    return ok_;
  }
  void OnReadDone(bool ok) override {
    absl::MutexLock lock(&mu_);
    read_ = true;
    ok_ = ok;
  }
  // Whether the stream ended because the caller has gone.
  bool cancelled() {
    absl::MutexLock lock(&mu_);
    return cancelled_;
  }
  void OnCancel() override {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
  }
  void OnDone() override {
    slots_.GiveBack();
    over_.Notify();
  }

 private:
  StreamSlots& slots_;
  absl::Mutex mu_;
  bool read_ ABSL_GUARDED_BY(mu_) = false;
  bool ok_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  absl::Notification over_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_BLOCKING_STREAM_H_
