// SPDX-License-Identifier: Apache-2.0
#include "server/compile/compile_broker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/util/time_util.h"
#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"
#include "server/compile/stage_name.h"
#include "server/errors/error_details.h"
#include "server/errors/parse_digest.h"

namespace tritond::server {
namespace {

constexpr size_t kMaxRememberedErrors = 10000;
// Of one request: each costs a look into the cache.
constexpr size_t kMostStoredKeys = 8;

std::vector<OptionRule> RulesOf(const v1::Hello::Target& target) {
  std::vector<OptionRule> rules;
  for (const v1::OptionRule& rule : target.options())
    rules.push_back({rule.name(), static_cast<OptionKind>(rule.kind()), rule.least(), rule.most()});
  return rules;
}

// Asking again gives the same.
bool IsDeterministic(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnimplemented ||
         code == absl::StatusCode::kResourceExhausted;
}

Loss::Kind ToLoss(workers::WorkerEnd::Kind kind) {
  switch (kind) {
    case workers::WorkerEnd::Kind::kDisconnected:
      return Loss::Kind::kDisconnected;
    case workers::WorkerEnd::Kind::kCrashed:
      return Loss::Kind::kCrashed;
    case workers::WorkerEnd::Kind::kTimeLimit:
      return Loss::Kind::kTimeLimit;
    case workers::WorkerEnd::Kind::kStopped:
      return Loss::Kind::kStopped;
  }
  return Loss::Kind::kDisconnected;
}

Outcome Failed(absl::Status status) {
  Outcome outcome;
  outcome.status = std::move(status);
  return outcome;
}

// What went here, and from the cluster's engine, which may not have done its part.
absl::StatusOr<v1::EvictResponse> ToResponse(const Removal& removal,
                                             const absl::StatusOr<ClusterLink::Forgotten>& shared) {
  if (!shared.ok()) {
    return WithReason(absl::UnavailableError(absl::StrCat(
                          "evicted from this daemon, but not from the cluster's engine: ", shared.status().message())),
                      Reason::kEngineUnavailable);
  }
  v1::EvictResponse response;
  response.set_results(removal.asked_for);
  response.set_artifacts(removal.digests.size());
  response.set_shared_results(shared->results);
  response.set_shared_artifacts(shared->blobs);
  return response;
}

// The request as it is stored beside its result, which is told of it.
cache::Blob RecordRequest(v1::CompileRequest request, v1::ActionResult* action) {
  proto::KeepKeyFields(&request);
  cache::Blob bytes = cache::Blob(request.SerializeAsString()).WithDigest();
  v1::Artifact& record = *action->mutable_request();
  record.set_kind(request.input());
  record.set_format("request");
  record.set_digest(bytes.digest()->ToHex());
  record.set_size_bytes(bytes.size());
  return bytes;
}

}  // namespace

CompileBroker::CompileBroker(BrokerConfig config, Clock clock, cache::Cache& results, cache::Cache& blobs,
                             Notary& notary, Metrics& metrics, std::function<void(const std::string&)> log,
                             std::function<void(const std::string&)> targets_changed)
    : config_(std::move(config)),
      clock_(std::move(clock)),
      started_(clock_()),
      blobs_(blobs),
      metrics_(metrics),
      activity_(clock_, metrics),
      log_(std::move(log)),
      targets_changed_(std::move(targets_changed)),
      budget_(config_.waiting_bytes),
      store_(results, blobs, notary, config_.store),
      steps_(store_),
      errors_(config_.error_lifetime, kMaxRememberedErrors, clock_),
      outcomes_(store_, errors_, log_),
      offers_(*this),
      targets_(config_.targets, clock_,
               [this](const std::string& line) {
                 log_(line);
                 tasks_.Run([this] { targets_changed_(targets_.Remembered()); });
               }),
      scheduler_(config_.scheduler, clock_, *this),
      texts_(config_.texts) {
  store_.ListenToFinds([&metrics](bool hot) { (hot ? metrics.parsed_hits : metrics.parsed_misses).Increment(); });
}

CompileBroker::~CompileBroker() = default;

std::optional<absl::StatusOr<CompileAnswer>> CompileBroker::FindAnswer(const std::string& key, absl::string_view tenant,
                                                                       absl::Time start) {
  std::optional<Outcome> outcome = outcomes_.Find(key);
  if (!outcome.has_value()) return std::nullopt;
  activity_.OnHit(clock_() - start);
  return ToAnswer(key, tenant, *outcome);
}

absl::StatusOr<CompileAnswer> CompileBroker::ToAnswer(const std::string& key, absl::string_view tenant,
                                                      const Outcome& outcome) {
  const TenantMeter& meter = metrics_.tenants.Of(tenant);
  if (!outcome.status.ok()) {
    metrics_.error_hits.Increment();
    meter.failed->Increment();
    return outcome.status;
  }
  CompileAnswer answer;
  answer.key = key;
  answer.cache = v1::CACHE_STATUS_HIT;
  answer.result = std::static_pointer_cast<const StoredResult>(outcome.value);
  metrics_.hits.Increment();
  meter.hit->Increment();
  const double saved = answer.result->action.cost_cpu_seconds();
  metrics_.saved_cpu_seconds.Increment(saved);
  meter.saved_cpu_seconds->Increment(saved);
  return answer;
}

std::optional<absl::StatusOr<CompileAnswer>> CompileBroker::TryStored(const proto::PreparedRequest& request) {
  if (request.message().cache_mode() == v1::CACHE_MODE_REFRESH) return std::nullopt;
  const absl::Time start = clock_();
  const std::string key = KeyOf(request);
  std::optional<absl::StatusOr<CompileAnswer>> answer;
  if (!key.empty()) answer = FindAnswer(key, request.message().tenant(), start);
  const bool any_build = request.message().cache_mode() == v1::CACHE_MODE_ANY_BUILD;
  if (!answer.has_value() && (any_build || (cluster_ == nullptr && !targets_.IsAwaited(request.message().target()))))
    answer = FindFirst(StoredKeys(request), request.message().tenant());
  if (!answer.has_value()) return std::nullopt;
  return ToSource(*std::move(answer), request.source());
}

std::vector<std::string> CompileBroker::StoredKeys(const proto::PreparedRequest& request) const {
  std::vector<std::string> keys;
  if (std::string key = KeyOf(request); !key.empty()) keys.push_back(std::move(key));
  for (const std::string& build : store_.index().Builds(request.message().target())) {
    if (keys.size() == kMostStoredKeys) break;
    std::string key = request.Key(build);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

std::optional<absl::StatusOr<CompileAnswer>> CompileBroker::FindFirst(const std::vector<std::string>& keys,
                                                                      absl::string_view tenant) {
  for (const std::string& key : keys) {
    if (auto answer = FindAnswer(key, tenant, clock_()); answer.has_value()) return answer;
  }
  return std::nullopt;
}

std::string CompileBroker::KeyOf(const proto::PreparedRequest& request) const {
  const std::optional<KnownTarget> target = targets_.Find(request.message().target());
  return target.has_value() ? request.Key(target->build_id) : "";
}

absl::StatusOr<v1::EvictResponse> CompileBroker::Evict(const std::vector<std::string>& keys) {
  std::set<cache::Digest> names;  // that the engine may have
  for (const std::string& key : keys) {
    errors_.Forget(key);
    if (cluster_ == nullptr) continue;
    cluster_->ForgetError(key);
    FindStored(key).IgnoreError();  // What only the engine has becomes this daemon's too, and goes as its own do.
    const std::vector<cache::Digest> its = cluster_->NamesOf(key);
    names.insert(its.begin(), its.end());
  }
  const absl::StatusOr<Removal> removal = store_.Evict(keys);
  if (!removal.ok()) return removal.status();
  if (cluster_ == nullptr) return ToResponse(*removal, ClusterLink::Forgotten());
  names.insert(removal->keys.begin(), removal->keys.end());
  return ToResponse(*removal, cluster_->Forget({names.begin(), names.end()}, removal->digests));
}

absl::StatusOr<v1::EvictResponse> CompileBroker::EvictAll() {
  errors_.ForgetAll();
  const absl::StatusOr<Removal> removal = store_.EvictAll();
  if (!removal.ok()) return removal.status();
  return ToResponse(*removal, cluster_ == nullptr ? ClusterLink::Forgotten() : cluster_->ForgetAll());
}

void CompileBroker::OnLessTrust() {
  store_.OnLessTrust();
  errors_.ForgetAll();
}

void CompileBroker::Lookup(const std::string& key, const std::string& tenant, Answered answered) {
  if (absl::Status status = ParseDigest("key", key).status(); !status.ok()) return answered(std::move(status));
  if (std::optional<absl::StatusOr<CompileAnswer>> stored = FindAnswer(key, tenant, clock_()))
    return answered(*std::move(stored));
  const auto missed = [this](const std::string& missing) {
    metrics_.lookup_misses.Increment();
    return absl::NotFoundError(absl::StrCat("no result is stored under ", missing));
  };
  if (cluster_ == nullptr) return answered(missed(key));
  RunBlocking([this, key, tenant, missed, answered = std::move(answered)] {
    std::optional<Outcome> outcome = cluster_->Find(key);
    answered(outcome.has_value() ? ToAnswer(key, tenant, *outcome) : missed(key));
  });
}

absl::StatusOr<std::shared_ptr<const StoredResult>> CompileBroker::FindStored(const std::string& key) {
  absl::StatusOr<std::shared_ptr<const StoredResult>> own = store_.Find(key);
  if (!absl::IsNotFound(own.status()) || cluster_ == nullptr) return own;
  std::optional<Outcome> outcome = cluster_->Find(key);
  if (!outcome.has_value() || outcome->value == nullptr) return own;
  return std::static_pointer_cast<const StoredResult>(outcome->value);
}

void CompileBroker::JoinCluster(const ClusterAccess& access) {
  ClusterLink::Local local{clock_, scheduler_, store_, outcomes_, offers_, config_.error_lifetime};
  cluster_ = std::make_unique<ClusterLink>(std::move(local), access);
  scheduler_.SetPeers(&cluster_->peers());
  cluster_->Begin();
}

void CompileBroker::RunBlocking(std::function<void()> task) {
  if (cluster_ == nullptr) return tasks_.Run(std::move(task));
  cluster_->Run(std::move(task));
}

void CompileBroker::Stop() {
  texts_.Stop();
  tasks_.Stop();
  if (cluster_ != nullptr) cluster_->Stop();
}

std::shared_ptr<CompileCall> CompileBroker::Compile(proto::PreparedRequest request, absl::Time deadline,
                                                    Answered answered, std::string job_id, ByteBudget::Hold memory) {
  auto call = std::make_shared<CompileCall>(*this, std::move(request), deadline, std::move(job_id), std::move(answered),
                                            std::move(memory));
  call->Begin();
  return call;
}

uint64_t CompileBroker::MemoryOf(const v1::CompileRequest& request) {
  return CompileCall::kCallBytes + request.ByteSizeLong();
}

absl::Status CompileBroker::MemoryFull() {
  metrics_.memory_refusals.Increment();
  return WithReason(absl::ResourceExhaustedError(absl::StrCat("the requests that wait hold ", budget_.held() >> 20,
                                                              " of ", budget_.limit() >> 20, " MiB (--max-queued-mb)")),
                    Reason::kMemoryFull, scheduler_.RetryDelay());
}

absl::Status CompileBroker::TextsFull() const {
  return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                        "the requests that wait to be read hold ", texts_.waiting_bytes() >> 20, " of ",
                        config_.texts.waiting_bytes >> 20, " MiB, of which one caller gets half (--max-incoming-mb)")),
                    Reason::kTextsFull, scheduler_.RetryDelay());
}

void CompileBroker::Tick() {
  pool_->Tick();
  targets_.Tick();
  scheduler_.Tick();
}

void CompileBroker::Start(const std::string& worker, uint64_t lease, const JobSpec& job, absl::Time deadline) {
  const auto& payload = static_cast<const CompilePayload&>(*job.payload);
  {
    absl::MutexLock lock(&mu_);
    leased_[lease] = {job.id, job.key, worker, payload.request, nullptr, {}};
  }
  v1::Lease message;
  message.set_id(lease);
  message.set_key(job.key);
  *message.mutable_compile() = *payload.request;
  proto::KeepKeyFields(message.mutable_compile());  // What is in no key cannot change the bytes.
  pool_->Start(worker, std::move(message), deadline);
  Report(job.key, v1::STAGE_UNSPECIFIED);
}

void CompileBroker::Report(const std::string& key, v1::Stage stage) {
  if (progress_ != nullptr) tasks_.Run([this, key, stage] { progress_->OnProgress(key, stage); });
}

void CompileBroker::Extend(const std::string& worker, uint64_t lease, absl::Time deadline) {
  pool_->Extend(worker, lease, deadline);
}

void CompileBroker::Cancel(const std::string& worker, uint64_t lease) { pool_->Cancel(worker, lease); }

void CompileBroker::OnAttached(const std::string& worker, const v1::Hello& hello) {
  {
    absl::MutexLock lock(&mu_);
    hellos_[worker] = hello;
  }
  WorkerOffer offer;
  offer.name = hello.name();
  offer.build_id = hello.build_id();
  offer.slots = static_cast<int>(std::max(hello.slots(), 1u));
  std::vector<KnownTarget> targets;
  for (const v1::Hello::Target& target : hello.targets()) {
    offer.targets[target.name()] = target.binary_available();
    targets.push_back({target.name(), hello.build_id(), target.binary_format(), target.binary_available(),
                       target.why_not(), /*attached=*/true, RulesOf(target), target.disassembly_available()});
  }
  devices_.OnAttached(worker, hello);
  scheduler_.WorkerAttached(worker, std::move(offer));
  bool local = false;
  for (const v1::Worker& known : pool_->List()) local |= known.id() == worker && known.local();
  targets_.WorkerAttached(worker, hello.build_id(), targets, local);
  tasks_.Run([this] { targets_changed_(targets_.Remembered()); });
}

void CompileBroker::OnProgress(const std::string& worker, uint64_t lease, v1::Stage stage) {
  scheduler_.Reached(lease, StageName(stage));
  if (stage == v1::STAGE_BINARY) scheduler_.NearlyDone(lease);
  std::string key;
  {
    absl::MutexLock lock(&mu_);
    auto it = leased_.find(lease);
    if (it == leased_.end()) return;
    key = it->second.key;
  }
  Report(key, stage);
}

void CompileBroker::OnQuery(const std::string& worker, v1::StepQuery query) {
  auto shared = std::make_shared<v1::StepQuery>(std::move(query));  // Shared because std::function wants to copy.
  RunBlocking([this, worker, shared] {
    const uint64_t lease = shared->lease();
    bool refresh = true;
    {
      absl::MutexLock lock(&mu_);
      auto it = leased_.find(lease);
      if (it != leased_.end()) refresh = it->second.request->cache_mode() == v1::CACHE_MODE_REFRESH;
    }
    StepCache::Recalled recalled;
    if (!refresh) {
      FetchSteps(shared->keys());
      recalled = steps_.Recall(shared->keys());
      if (recalled.step == StepCache::Step::kSemantic) metrics_.semantic_hits.Increment();
      if (recalled.step == StepCache::Step::kAssembly) metrics_.assembly_hits.Increment();
      metrics_.saved_cpu_seconds.Increment(recalled.saved_cpu_seconds);
    }
    recalled.answer.set_lease(lease);
    {
      absl::MutexLock lock(&mu_);
      auto it = leased_.find(lease);
      if (it != leased_.end()) {
        it->second.recalled = std::move(recalled.result);
        it->second.sources = std::move(recalled.sources);
      }
    }
    pool_->Answer(worker, std::move(recalled.answer));
  });
}

void CompileBroker::OnOutcome(const std::string& worker, v1::CompileOutcome outcome) {
  // Shared because std::function wants to copy.
  auto shared = std::make_shared<v1::CompileOutcome>(std::move(outcome));
  tasks_.Run([this, shared] {
    LeasedJob job;
    {
      absl::MutexLock lock(&mu_);
      auto it = leased_.find(shared->lease());
      if (it == leased_.end()) return;
      job = std::move(it->second);
      leased_.erase(it);
    }
    const auto code = static_cast<absl::StatusCode>(shared->code());
    if (code == absl::StatusCode::kCancelled || code == absl::StatusCode::kDeadlineExceeded)
      return scheduler_.RunStopped(shared->lease(), shared->message());
    Outcome settled = Settle(job, shared.get());
    auto stored = std::static_pointer_cast<const StoredResult>(settled.value);
    scheduler_.Finish(shared->lease(), std::move(settled));
    if (stored == nullptr || shared->recalled()) return;
    const std::vector<std::string> steps = {shared->semantic_key(), shared->assembly().key()};
    Complain(job.key, steps_.Remember(*stored, std::move(*shared)));  // Nobody waits for it.
    for (const std::string& step : steps) {
      if (cluster_ == nullptr || step.empty()) continue;
      if (auto kept = store_.Find(step); kept.ok()) Share(step, *std::move(kept));
    }
  });
}

void CompileBroker::FetchSteps(const v1::StepKeys& keys) {
  // A worker waits for this.
  if (cluster_ == nullptr || !cluster_->IsQuick()) return;
  for (const std::string& step : {keys.semantic_key(), keys.assembly_key()})
    if (!step.empty() && FindStored(step).ok()) return;
}

void CompileBroker::Complain(const std::string& key, const absl::Status& kept) {
  if (kept.ok()) return;
  metrics_.store_failures.Increment();
  log_(absl::StrCat("cache: cannot keep ", key, ": ", kept.ToString()));
}

Outcome CompileBroker::Settle(const LeasedJob& job, v1::CompileOutcome* outcome) {
  v1::ActionResult& action = *outcome->mutable_result();
  {
    absl::MutexLock lock(&mu_);
    const v1::Hello& hello = hellos_[job.worker];
    action.set_worker(hello.name());
    action.set_build_id(hello.build_id());
  }
  action.set_daemon(config_.name);
  if (outcome->code() != 0) return SettleFailure(job, *outcome);
  const bool recalled = outcome->recalled();
  FreshResult fresh;
  if (recalled) {
    if (job.recalled == nullptr)
      return Failed(absl::InternalError("a worker recalled a result that it was not told of"));
    fresh.action = job.recalled->action;
    fresh.artifacts = job.recalled->artifacts;
  } else {
    *action.mutable_created() =
        google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(absl::Now()));
    for (v1::Blob& blob : *outcome->mutable_blobs()) fresh.artifacts.emplace_back(std::move(*blob.mutable_data()));
    fresh.action = std::move(action);
    StepCache::Name(*outcome, &fresh.action);
  }
  fresh.request = RecordRequest(*job.request, &fresh.action);
  fresh.sources = job.sources;
  absl::Status kept;
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = store_.Keep(job.key, std::move(fresh), &kept);
  Complain(job.key, kept);
  if (!stored.ok()) return Failed(stored.status());
  errors_.Forget(job.key);
  Outcome settled;
  settled.stored = recalled;
  if (!settled.stored) metrics_.compile_seconds.Observe((*stored)->action.cost_cpu_seconds());
  Share(job.key, *stored);
  settled.value = *std::move(stored);
  return settled;
}

Outcome CompileBroker::SettleFailure(const LeasedJob& job, const v1::CompileOutcome& outcome) {
  const v1::ActionResult& action = outcome.result();
  v1::CompileFailure failure;
  failure.set_key(job.key);
  *failure.mutable_diagnostics() = action.diagnostics();
  *failure.mutable_stage_times() = action.stage_times();
  *failure.mutable_ignored_options() = action.ignored_options();
  failure.set_worker(action.worker());
  failure.set_build_id(action.build_id());
  failure.set_cost_cpu_seconds(action.cost_cpu_seconds());
  failure.set_peak_memory_bytes(action.peak_memory_bytes());
  failure.set_daemon(action.daemon());
  Outcome settled;
  settled.status = WithReason(absl::Status(static_cast<absl::StatusCode>(outcome.code()), outcome.message()),
                              Reason::kCompileFailed);
  AddDetail(failure, &settled.status);
  settled.status = WithJob(std::move(settled.status), job.id);
  if (IsDeterministic(settled.status.code())) {
    errors_.Remember(job.key, settled.status);
    if (cluster_ != nullptr) cluster_->ShareError(job.key, settled.status);
  }
  return settled;
}

void CompileBroker::OnMeasured(const std::string&, v1::MeasureOutcome outcome) {
  devices_.OnMeasured(std::move(outcome));
}

void CompileBroker::OnRetire(const std::string& worker) { scheduler_.RetireWorker(worker); }

void CompileBroker::OnKilled(uint64_t lease, const std::string& report) { scheduler_.Blame(lease, report); }

void CompileBroker::OnFailedStart() { metrics_.workers_lost.Increment(); }

void CompileBroker::OnEnded(const std::string& worker, const workers::WorkerEnd& end) {
  // After the outcomes that the worker sent before it ended.
  tasks_.Run([this, worker, end] {
    if (end.kind != workers::WorkerEnd::Kind::kStopped) metrics_.workers_lost.Increment();
    targets_.WorkerGone(worker);
    devices_.OnEnded(worker, end.report);
    scheduler_.WorkerLost(worker, {ToLoss(end.kind), end.report, end.begun});
    {
      absl::MutexLock lock(&mu_);
      for (auto it = leased_.begin(); it != leased_.end();) {
        auto next = std::next(it);
        if (it->second.worker == worker) leased_.erase(it);
        it = next;
      }
      hellos_.erase(worker);
    }
  });
}

}  // namespace tritond::server
