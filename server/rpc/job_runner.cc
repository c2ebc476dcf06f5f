// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/job_runner.h"

#include <utility>

#include "server/rpc/compile_call.h"
#include "server/rpc/response.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

bool DecidesNothing(const std::string& reason) {
  return reason == "DRAINING" || reason == "QUEUE_FULL" || reason == "TENANT_QUEUE_FULL" || reason == "MEMORY_FULL" ||
         reason == "NO_WORKER";
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

bool EngineJobRunner::HasRoom(uint64_t request_bytes) {
  return engine_.scheduler().HasRoom() && engine_.budget().HasRoom(request_bytes + CompileCall::kCallBytes) &&
         share_.HasRoom(request_bytes);
}

void EngineJobRunner::Start(const std::string& id, v1::CompileRequest request, Done done) {
  if (std::optional<absl::StatusOr<CompileAnswer>> stored = engine_.TryStored(request)) return done(ToEnd(*stored));
  // Others may have come since there was room: the call is refused then, and the job comes again.
  std::optional<ByteBudget::Hold> part = share_.Take(request.ByteSizeLong());
  {
    absl::MutexLock lock(&mu_);
    calls_[id].part = part.has_value() ? *std::move(part) : ByteBudget::Hold();
  }
  std::shared_ptr<CompileCall> call = engine_.Compile(
      std::move(request), absl::InfiniteFuture(),
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
  if (it != calls_.end()) it->second.call = std::move(call);
}

void EngineJobRunner::Stop(const std::string& id) {
  std::shared_ptr<CompileCall> call;
  {
    absl::MutexLock lock(&mu_);
    auto it = calls_.find(id);
    if (it != calls_.end()) call = it->second.call;
  }
  if (call != nullptr) call->Cancel();
}

}  // namespace tritond::server
