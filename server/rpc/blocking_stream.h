// SPDX-License-Identifier: Apache-2.0
// Streams whose other end is a loop on a thread of its own. They are for the rare RPCs that read or write much and
// block on the disk meanwhile. Each deletes itself when its RPC is over and its loop has returned. There are no more of
// them at once than slots. So callers that begin many and go on with none cost a bounded number of threads. A stream
// that stands still does not keep its slot.
#ifndef SERVER_RPC_BLOCKING_STREAM_H_
#define SERVER_RPC_BLOCKING_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/rpc/status.h"
#include "server/rpc/stream_slots.h"
#include "timing/steady/event.h"

namespace tritond::server {

template <typename Response>
class BlockingWriter final : public grpc::ServerWriteReactor<Response> {
 public:
  // Runs `body` in a slot that was taken for it; what it returns ends the RPC.
  BlockingWriter(StreamSlots& slots, grpc::CallbackServerContext& context,
                 std::function<absl::Status(BlockingWriter&)> body)
      : slots_(slots), context_(context) {
    std::thread([this, body = std::move(body)] {
      const absl::Status status = body(*this);
      this->Finish(ToGrpc(status));
      over_.WaitForNotification();
      delete this;
    }).detach();
  }
  // Waits until the message is on its way. False when nobody takes it, any more or for too long.
  bool Write(const Response& message) {
    this->StartWrite(&message);
    if (!written_.WaitFor(slots_.patience())) {
      context_.TryCancel();  // Ends the write, which has the message until then.
      written_.WaitFor(absl::InfiniteDuration());
      return false;
    }
    return ok_;
  }
  void OnWriteDone(bool ok) override {
    ok_ = ok;
    written_.Set();
  }
  void OnDone() override {
    slots_.GiveBack();
    over_.Notify();
  }

 private:
  StreamSlots& slots_;
  grpc::CallbackServerContext& context_;
  timing::Event written_;
  bool ok_ = false;  // of the last write; before `written_` gRPC's, then the loop's
  absl::Notification over_;
};

template <typename Request>
class BlockingReader final : public grpc::ServerReadReactor<Request> {
 public:
  BlockingReader(StreamSlots& slots, std::function<absl::Status(BlockingReader&)> body) : slots_(slots) {
    std::thread([this, body = std::move(body)] {
      absl::Status status = body(*this);
      if (idle_)
        status =
            absl::DeadlineExceededError(absl::StrCat("nothing came for ", absl::FormatDuration(slots_.patience())));
      this->Finish(ToGrpc(status));
      over_.WaitForNotification();
      delete this;
    }).detach();
  }
  // Waits for the next message. False when there is none any more, or none for too long: then the RPC ends with
  // DeadlineExceeded, whatever the body returns.
  bool Read(Request* message) {
    this->StartRead(&incoming_);
    idle_ = !read_.WaitFor(slots_.patience());
    if (idle_ || !ok_) return false;
    message->Swap(&incoming_);
    return true;
  }
  void OnReadDone(bool ok) override {
    ok_ = ok;
    read_.Set();
  }
  // Whether the stream ended because the caller has gone.
  bool cancelled() const { return cancelled_; }
  bool idle() const { return idle_; }
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override {
    slots_.GiveBack();
    over_.Notify();
  }

 private:
  StreamSlots& slots_;
  timing::Event read_;
  Request incoming_;  // gRPC's while a read goes on, which may outlast the body
  bool ok_ = false;   // of the last read; before `read_` gRPC's, then the loop's
  bool idle_ = false;
  std::atomic<bool> cancelled_{false};
  absl::Notification over_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_BLOCKING_STREAM_H_
