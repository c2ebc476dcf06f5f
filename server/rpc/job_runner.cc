// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/job_runner.h"

#include <utility>

#include "server/rpc/compile_call.h"
#include "server/rpc/response.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

bool DecidesNothing(const std::string& reason) {
  return reason == "DRAINING" || reason == "QUEUE_FULL" || reason == "TENANT_QUEUE_FULL" || reason == "NO_WORKER";
}

JobEnd ToEnd(const absl::StatusOr<CompileAnswer>& answer) {
  JobEnd end;
  end.status = answer.status();
  if (answer.ok()) {
    end.response = ToMessage(*answer, v1::DELIVERY_DIGESTS, 0);
  } else {
    end.failure = ToFailure(answer.status());
    if (DecidesNothing(ReasonOf(answer.status()))) end.retry_after = RetryDelayOf(answer.status());
  }
  return end;
}

}  // namespace

std::string EngineJobRunner::KeyOf(const v1::CompileRequest& request) { return engine_.KeyOf(request); }

void EngineJobRunner::Start(const std::string& id, const v1::CompileRequest& request, Done done) {
  if (std::optional<absl::StatusOr<CompileAnswer>> stored = engine_.TryStored(request)) return done(ToEnd(*stored));
  {
    absl::MutexLock lock(&mu_);
    calls_[id] = nullptr;
  }
  std::shared_ptr<CompileCall> call = engine_.Compile(
      request, absl::InfiniteFuture(),
      [this, id, done = std::move(done)](absl::StatusOr<CompileAnswer> answer) {
        {
          absl::MutexLock lock(&mu_);
          calls_.erase(id);
        }
        done(ToEnd(answer));
      },
      id);
  absl::MutexLock lock(&mu_);
  auto it = calls_.find(id);
  if (it != calls_.end()) it->second = std::move(call);
}

void EngineJobRunner::Stop(const std::string& id) {
  std::shared_ptr<CompileCall> call;
  {
    absl::MutexLock lock(&mu_);
    auto it = calls_.find(id);
    if (it != calls_.end()) call = it->second;
  }
  if (call != nullptr) call->Cancel();
}

}  // namespace tritond::server
