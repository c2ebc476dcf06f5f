// SPDX-License-Identifier: Apache-2.0
#include "server/compile/compile_call.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/compile/source_places.h"
#include "server/errors/error_details.h"
#include "server/jobs/job_class.h"
#include "server/results/outcome_error.h"

namespace tritond::server {
namespace {

bool WantsBinary(const v1::CompileRequest& request) {
  return std::any_of(request.outputs().begin(), request.outputs().end(),
                     [](int output) { return output >= v1::STAGE_BINARY; });
}

}  // namespace

std::vector<Violation> CheckCompileRequest(const proto::PreparedRequest& prepared, const CompileBroker& broker) {
  const v1::CompileRequest& request = prepared.message();
  RequestFacts facts;
  facts.target = request.target();
  facts.tenant = request.tenant();
  facts.label = request.label();
  facts.ir_bytes = request.ir().size();
  facts.input = request.input();
  facts.outputs.assign(request.outputs().begin(), request.outputs().end());
  facts.options = nlohmann::json::parse(prepared.options(), nullptr, /*allow_exceptions=*/false);
  if (std::optional<KnownTarget> target = broker.targets().Find(facts.target)) facts.rules = std::move(target->options);
  return CheckRequest(facts, broker.config().limits);
}

JobSpec SpecOf(const std::shared_ptr<const proto::PreparedRequest>& prepared, const std::string& key,
               const std::string& build_id) {
  const v1::CompileRequest& request = prepared->message();
  JobSpec spec;
  spec.key = key;
  spec.needs = {request.target(), build_id, WantsBinary(request)};
  spec.job_class = ClassOf(request.priority());
  spec.tenant = request.tenant();
  spec.label = request.label();
  spec.refresh = request.cache_mode() == v1::CACHE_MODE_REFRESH;
  spec.bytes = prepared->size_bytes();
  spec.payload = std::make_shared<CompilePayload>(std::shared_ptr<const v1::CompileRequest>(prepared, &request));
  return spec;
}

CompileCall::CompileCall(CompileBroker& broker, proto::PreparedRequest request, absl::Time deadline, std::string id,
                         CompileBroker::Answered answered, ByteBudget::Hold memory)
    : broker_(broker),
      id_(std::move(id)),
      source_(request.source()),
      memory_(std::move(memory)),
      request_(std::make_shared<HeldRequest>(HeldRequest{std::move(request), {}})),
      tenant_(request_->prepared.message().tenant()),
      job_class_(ClassOf(request_->prepared.message().priority())),
      deadline_(deadline),
      answered_(std::move(answered)) {}

bool CompileCall::TakeMemory() {
  if (memory_.bytes() == 0) {
    std::optional<ByteBudget::Hold> taken = broker_.budget().Take(kCallBytes + request_->prepared.size_bytes());
    if (!taken.has_value()) return false;
    memory_ = *std::move(taken);
  }
  request_->memory = memory_.Split(memory_.bytes() - std::min(memory_.bytes(), kCallBytes));
  return true;
}

void CompileCall::Begin() {
  const v1::CompileRequest& request = request_->prepared.message();
  std::vector<Violation> violations = CheckCompileRequest(request_->prepared, broker_);
  if (!violations.empty()) return Refuse(InvalidRequest(violations));
  if (!TakeMemory()) return JoinOnly();
  // A job looks into the cluster by itself; where there will be none, a stored result is worth a look all the same.
  const bool no_job = broker_.scheduler().draining();
  if (broker_.cluster() == nullptr || !no_job || request.cache_mode() == v1::CACHE_MODE_REFRESH) return AwaitWorker();
  broker_.RunBlocking([self = shared_from_this(), key = broker_.KeyOf(request_->prepared)] {
    const std::optional<Outcome> stored = self->broker_.cluster()->Find(key);
    if (stored.has_value()) return self->Answer(self->broker_.ToAnswer(key, self->tenant_, *stored));
    self->AwaitWorker();
  });
}

void CompileCall::JoinOnly() {
  std::optional<ByteBudget::Hold> taken = broker_.budget().Take(kCallBytes);
  const std::optional<KnownTarget> target = broker_.targets().Find(request_->prepared.message().target());
  // A refresh brings a request of its own into the job that it joins.
  const bool refresh = request_->prepared.message().cache_mode() == v1::CACHE_MODE_REFRESH;
  if (!taken.has_value() || !target.has_value() || refresh) return Refuse(broker_.MemoryFull());
  memory_ = *std::move(taken);
  key_ = request_->prepared.Key(target->build_id);
  JobSpec spec = SpecOf(Prepared(), key_, target->build_id);
  spec.payload = nullptr;
  spec.may_queue = false;
  request_ = nullptr;
  SubmitSpec(std::move(spec), nullptr);
}

std::shared_ptr<const proto::PreparedRequest> CompileCall::Prepared() const { return {request_, &request_->prepared}; }

void CompileCall::SubmitToOthers() {
  const v1::CompileRequest& request = request_->prepared.message();
  if (broker_.cluster() == nullptr || request.cache_mode() == v1::CACHE_MODE_REFRESH) return;
  const std::optional<KnownTarget> target = broker_.targets().Find(request.target());
  if (!target.has_value() || target->attached) return;
  build_for_others_ = target->build_id;
  const std::shared_ptr<HeldRequest> kept = request_;  // A worker of another build wants another job.
  Submit(*target);
  request_ = kept;
}

bool CompileCall::AnswerStored() {
  std::optional<absl::StatusOr<CompileAnswer>> stored = broker_.FindFirst(stored_keys_, tenant_);
  if (stored.has_value()) Answer(*std::move(stored));
  return stored.has_value();
}

void CompileCall::AwaitWorker() {
  const v1::CompileRequest& request = request_->prepared.message();
  const std::optional<KnownTarget> target = broker_.targets().Find(request.target());
  const bool attached = target.has_value() && target->attached;
  if (!attached && request.cache_mode() != v1::CACHE_MODE_REFRESH)
    stored_keys_ = broker_.StoredKeys(request_->prepared);
  SubmitToOthers();
  {
    absl::MutexLock lock(&mu_);
    if (!answered_) return;
  }
  auto id = broker_.targets().WhenAttached(
      request_->prepared.message().target(), deadline_,
      [self = shared_from_this()](TargetCatalog::Arrival arrival) { self->OnArrival(arrival); });
  bool cancelled;
  {
    absl::MutexLock lock(&mu_);
    arrival_waiter_ = id;
    cancelled = cancelled_;
  }
  if (cancelled) Cancel();
}

void CompileCall::OnArrival(TargetCatalog::Arrival arrival) {
  if (!build_for_others_.empty()) {
    // The job that is queued ends by itself.
    if (arrival != TargetCatalog::Arrival::kAttached) return;
    const std::optional<KnownTarget> attached = broker_.targets().Find(request_->prepared.message().target());
    if (!attached.has_value()) return;
    if (attached->build_id == build_for_others_) {
      request_ = nullptr;
      return;
    }
    Scheduler::WaiterId job;
    {
      absl::MutexLock lock(&mu_);
      job = job_waiter_;
    }
    if (!broker_.scheduler().Leave(job)) return;
  }
  switch (arrival) {
    case TargetCatalog::Arrival::kUnknown:
      if (!AnswerStored()) Refuse(UnknownTarget());
      return;
    case TargetCatalog::Arrival::kNoWorker:
      if (!AnswerStored()) Refuse(NoWorker());
      return;
    case TargetCatalog::Arrival::kDeadline:
      return Refuse(
          WithReason(absl::DeadlineExceededError(absl::StrCat("the deadline passed before a worker for ",
                                                              request_->prepared.message().target(), " attached")),
                     Reason::kDeadline));
    case TargetCatalog::Arrival::kAttached:
      break;
  }
  const std::optional<KnownTarget> target = broker_.targets().Find(request_->prepared.message().target());
  if (!target.has_value()) return Refuse(UnknownTarget());
  if (WantsBinary(request_->prepared.message()) && !target->binary_available) {
    return Refuse(WithReason(
        absl::FailedPreconditionError(absl::StrCat("no attached worker can make a ", target->binary_format, " for ",
                                                   target->name, ": ", target->WhyNotInOneSentence())),
        Reason::kBinaryUnavailable));
  }
  Submit(*target);
}

void CompileCall::Submit(const KnownTarget& target) {
  key_ = request_->prepared.Key(target.build_id);
  JobSpec spec = SpecOf(Prepared(), key_, target.build_id);
  spec.id = id_.empty() ? broker_.activity().NewJobId() : id_;
  request_ = nullptr;
  Scheduler::Recheck recheck;
  if (!spec.refresh) {
    recheck = [this, self = shared_from_this()] { return broker_.outcomes().Find(key_); };
  }
  SubmitSpec(std::move(spec), std::move(recheck));
}

void CompileCall::SubmitSpec(JobSpec spec, Scheduler::Recheck recheck) {
  auto id = broker_.scheduler().Submit(
      std::move(spec), deadline_, std::move(recheck),
      [self = shared_from_this()](const Outcome& outcome, bool joined) { self->OnOutcome(outcome, joined); });
  bool cancelled;
  {
    absl::MutexLock lock(&mu_);
    job_waiter_ = id;
    cancelled = cancelled_;
  }
  if (cancelled) Cancel();
}

void CompileCall::OnOutcome(const Outcome& outcome, bool joined) {
  if (outcome.reason == Reason::kNoWorker && AnswerStored()) return;
  joined |= outcome.elsewhere;
  Count(outcome, joined);
  if (!outcome.status.ok()) return Answer(FromOutcome(key_, outcome));
  CompileAnswer answer;
  answer.key = key_;
  answer.cache = outcome.stored ? v1::CACHE_STATUS_HIT : joined ? v1::CACHE_STATUS_JOINED : v1::CACHE_STATUS_MISS;
  answer.result = std::static_pointer_cast<const StoredResult>(outcome.value);
  if (outcome.attempts > 0 || outcome.elsewhere) answer.job = outcome.job;
  if (!outcome.stored) {
    answer.queue_time = outcome.queue_time;
  }
  Answer(std::move(answer));
}

void CompileCall::Count(const Outcome& outcome, bool joined) {
  Metrics& metrics = broker_.metrics();
  const TenantMeter& tenant = metrics.tenants.Of(tenant_);
  if (!outcome.status.ok()) {
    if (outcome.reason == Reason::kMemoryFull) metrics.memory_refusals.Increment();
    if (outcome.reason == Reason::kCancelled) return metrics.Cancel(tenant_);
    if (!outcome.stored && outcome.reason != Reason::kNone) return metrics.Refuse(outcome.reason, tenant_);
    (outcome.stored ? metrics.error_hits : metrics.failures).Increment();
    tenant.failed->Increment();
    return;
  }
  (outcome.stored ? metrics.hits : joined ? metrics.joined : metrics.misses).Increment();
  (outcome.stored ? tenant.hit : joined ? tenant.joined : tenant.compiled)->Increment();
  if (!outcome.stored) {
    metrics.queue_seconds[static_cast<int>(job_class_)]->Observe(absl::ToDoubleSeconds(outcome.queue_time));
  }
  if (!outcome.stored && !joined) return;
  const double saved = static_cast<const StoredResult&>(*outcome.value).action.cost_cpu_seconds();
  tenant.saved_cpu_seconds->Increment(saved);
  // What a worker was told to end with is counted where it was told (CompileBroker::OnQuery).
  const bool recalled = outcome.stored && outcome.attempts > 0 && !joined;
  if (!recalled) metrics.saved_cpu_seconds.Increment(saved);
}

void CompileCall::Cancel() {
  TargetCatalog::WaiterId arrival;
  Scheduler::WaiterId job;
  {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
    if (!answered_) return;
    arrival = arrival_waiter_;
    job = job_waiter_;
  }
  // The thread that removes the waiter answers. A waiter without a known id is removed once its id is known.
  const bool left = (job != 0 && broker_.scheduler().Leave(job)) || (arrival != 0 && broker_.targets().Leave(arrival));
  if (!left) return;
  broker_.metrics().Cancel(tenant_);
  Answer(WithReason(absl::CancelledError("the caller has gone"), Reason::kCancelled));
}

void CompileCall::Refuse(const absl::Status& status) {
  broker_.metrics().Refuse(ReasonOf(status), tenant_);
  Answer(status);
}

void CompileCall::Answer(absl::StatusOr<CompileAnswer> answer) {
  CompileBroker::Answered answered;
  TargetCatalog::WaiterId arrival;
  {
    absl::MutexLock lock(&mu_);
    answered = std::exchange(answered_, nullptr);
    arrival = arrival_waiter_;
  }
  if (arrival != 0) broker_.targets().Leave(arrival);
  if (answered) answered(ToSource(std::move(answer), source_));
}

absl::Status CompileCall::NoWorker() const {
  if (broker_.scheduler().draining()) {
    return WithReason(absl::UnavailableError("this server is draining; ask another, or this one later"),
                      Reason::kDraining, absl::Seconds(5));
  }
  return WithReason(
      absl::UnavailableError(absl::StrCat("no worker for ", request_->prepared.message().target(), " is attached")),
      Reason::kNoWorker, absl::Seconds(5));
}

absl::Status CompileCall::UnknownTarget() const {
  std::vector<std::string> names;
  bool has_emulated = false;
  for (const KnownTarget& target : broker_.targets().List()) {
    const bool is_emulated = absl::StartsWith(target.name, "emulated:");
    has_emulated |= is_emulated;
    if (!is_emulated) names.push_back(target.name);
  }
  return WithReason(
      InvalidRequest(
          {{"target", absl::StrCat("is unknown to this server: ", request_->prepared.message().target(), "; known are ",
                                   absl::StrJoin(names, ", "), has_emulated ? "; GPUs also as emulated:NAME" : "")}}),
      Reason::kUnknownTarget);
}

}  // namespace tritond::server
