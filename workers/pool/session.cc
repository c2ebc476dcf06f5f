// SPDX-License-Identifier: Apache-2.0
#include "workers/pool/session.h"

#include <utility>

namespace tritond::workers {

Session::Session(grpc::CallbackServerContext* context, Handlers handlers)
    : context_(context), handlers_(std::move(handlers)), peer_(context->peer()) {}

std::shared_ptr<Session> Session::Open(grpc::CallbackServerContext* context, Handlers handlers) {
  std::shared_ptr<Session> session(new Session(context, std::move(handlers)));
  session->self_ = session;
  session->StartRead(&session->incoming_);
  return session;
}

std::shared_ptr<Session> Session::Refuse(grpc::CallbackServerContext* context, const grpc::Status& status) {
  std::shared_ptr<Session> session(new Session(context, {}));
  session->self_ = session;
  session->Close(status);
  return session;
}

void Session::Send(v1::DaemonMessage message) {
  absl::MutexLock lock(&mu_);
  if (closing_) return;
  outgoing_.push_back(std::move(message));
  if (writing_) return;
  writing_ = true;
  StartWrite(&outgoing_.front());
}

void Session::Close(const grpc::Status& status) {
  absl::MutexLock lock(&mu_);
  if (closing_) return;
  closing_ = true;
  status_ = status;
  if (writing_) {
    // A worker that does not read would hold the write for ever.
    context_->TryCancel();
    return;
  }
  finished_ = true;
  Finish(status);
}

void Session::OnReadDone(bool ok) {
  if (!ok) {
    Close(grpc::Status::OK);
    return;
  }
  handlers_.on_message(shared_from_this(), std::move(incoming_));
  incoming_.Clear();
  StartRead(&incoming_);
}

void Session::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mu_);
  outgoing_.pop_front();
  writing_ = false;
  if (!closing_ && ok && !outgoing_.empty()) {
    writing_ = true;
    StartWrite(&outgoing_.front());
  } else if (closing_ && !finished_) {
    finished_ = true;
    Finish(status_);
  }
}

void Session::OnDone() {
  std::shared_ptr<Session> self = std::move(self_);
  if (handlers_.on_end) handlers_.on_end(self);
}

}  // namespace tritond::workers
