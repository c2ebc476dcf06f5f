// SPDX-License-Identifier: Apache-2.0
#include "server/compile/job_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/compile/compile_answer.h"
#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

constexpr absl::Duration kPause = absl::Seconds(5);
constexpr absl::Duration kLookAgain = absl::Seconds(2);

bool WantsRoom(Reason reason) {
  return reason == Reason::kDraining || reason == Reason::kQueueFull || reason == Reason::kTenantQueueFull ||
         reason == Reason::kMemoryFull;
}

// What is missing today may be there tomorrow. Workers that a kernel killed are none of these: the second one
// quarantines it.
bool WantsWorker(const absl::Status& status) {
  const Reason reason = ReasonOf(status);
  return reason == Reason::kNoWorker || reason == Reason::kBinaryUnavailable || reason == Reason::kWorkerLost ||
         reason == Reason::kUnknownTarget;
}

JobEnd ToEnd(const absl::StatusOr<CompileAnswer>& answer) {
  JobEnd end;
  end.status = answer.status();
  if (answer.ok()) {
    end.response = ToMessage(*answer, v1::DELIVERY_DIGESTS, 0);
  } else {
    end.failure = ToFailure(answer.status());
    end.waits_for_worker = WantsWorker(answer.status());
    if (end.waits_for_worker) end.retry_after = std::max(RetryDelayOf(answer.status()), kPause);
    if (WantsRoom(ReasonOf(answer.status()))) end.retry_after = RetryDelayOf(answer.status());
  }
  return end;
}

absl::StatusOr<proto::PreparedRequest> Prepared(JobRequest request, const AdmissionLimits& limits) {
  if (!request.source.has_value()) return PrepareRequest(std::move(request.message), limits);
  return proto::PreparedRequest(std::move(request.message), *std::move(request.source));
}

// What a job ends with for now whose target nobody can make.
JobEnd NoWorker(const std::string& target) {
  JobEnd end = ToEnd(
      WithReason(absl::UnavailableError(absl::StrCat("no worker for ", target, " is attached")), Reason::kNoWorker));
  end.retry_after = kLookAgain;
  return end;
}

}  // namespace

// A job whose text waits to be read. Shared because std::function wants to copy.
struct BrokerJobRunner::Pending {
  JobRequest request;
  Keyed keyed;
  Done done;
};

bool BrokerJobRunner::HasRoom(uint64_t request_bytes) {
  return broker_.scheduler().HasRoom() && broker_.budget().HasRoom(request_bytes + CompileCall::kCallBytes) &&
         share_.HasRoom(request_bytes);
}

bool BrokerJobRunner::MayRun(const std::string& target) {
  const std::optional<KnownTarget> known = broker_.targets().Find(target);
  // Another daemon of the cluster may have the worker.
  return broker_.cluster() != nullptr || (known.has_value() && known->attached);
}

void BrokerJobRunner::Start(const std::string& id, JobRequest request, Keyed keyed, Done done) {
  const std::string turn = absl::StrCat("jobs of tenant:", request.message.tenant());
  const uint64_t bytes = request.message.ByteSizeLong();
  // Others may have come since there was room: the call is refused then, and the job comes again.
  std::optional<ByteBudget::Hold> part = share_.Take(bytes);
  auto pending = std::make_shared<Pending>(Pending{std::move(request), std::move(keyed), std::move(done)});
  {
    absl::MutexLock lock(&mu_);
    calls_[id].part = part.has_value() ? *std::move(part) : ByteBudget::Hold();
  }
  broker_.texts().Run(turn, bytes, [this, id, pending](const absl::Status& status) { Read(id, status, *pending); });
}

void BrokerJobRunner::Read(const std::string& id, const absl::Status& status, Pending& pending) {
  if (!status.ok()) return End(id, pending.done, ToEnd(status));
  if (IsStopped(id)) return End(id, pending.done, ToEnd(absl::CancelledError("cancelled")));
  const std::string target = pending.request.message.target();
  absl::StatusOr<proto::PreparedRequest> prepared = Prepared(std::move(pending.request), broker_.config().limits);
  if (!prepared.ok()) return End(id, pending.done, ToEnd(prepared.status()));
  std::optional<absl::StatusOr<CompileAnswer>> stored = broker_.TryStored(*prepared);
  const std::string key = stored.has_value() && stored->ok() ? (*stored)->key : broker_.KeyOf(*prepared);
  if (!key.empty()) pending.keyed(key);
  if (stored.has_value()) return End(id, pending.done, ToEnd(*stored));
  // It waits in the journal, where it holds nothing that others want.
  if (!MayRun(target)) return End(id, pending.done, NoWorker(target));
  std::shared_ptr<CompileCall> call = broker_.Compile(
      *std::move(prepared), absl::InfiniteFuture(),
      [this, id, done = std::move(pending.done)](const absl::StatusOr<CompileAnswer>& answer) {
        End(id, done, ToEnd(answer));
      },
      id);
  bool stopped = false;
  {
    absl::MutexLock lock(&mu_);
    auto it = calls_.find(id);
    if (it == calls_.end()) return;
    it->second.call = call;
    stopped = it->second.stopped;
  }
  if (stopped) call->Cancel();
}

void BrokerJobRunner::End(const std::string& id, const Done& done, JobEnd end) {
  {
    absl::MutexLock lock(&mu_);
    calls_.erase(id);
  }
  done(std::move(end));
}

bool BrokerJobRunner::IsStopped(const std::string& id) {
  absl::MutexLock lock(&mu_);
  auto it = calls_.find(id);
  return it != calls_.end() && it->second.stopped;
}

// A text that waits keeps its turn, and is not read when it comes.
void BrokerJobRunner::Stop(const std::string& id) {
  std::shared_ptr<CompileCall> call;
  {
    absl::MutexLock lock(&mu_);
    auto it = calls_.find(id);
    if (it == calls_.end()) return;
    it->second.stopped = true;
    call = it->second.call;
  }
  if (call != nullptr) call->Cancel();
}

}  // namespace tritond::server
