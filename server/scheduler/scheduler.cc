// SPDX-License-Identifier: Apache-2.0
// A job is first reserved: its key is taken, the cache and then the peers are asked once more. Then it is queued. Then
// it is claimed, as the peers are asked for leave while a worker is kept for it, or it follows another daemon's. A
// claimed one then runs under a lease. A lost lease puts it back into the queue, unless it runs elsewhere too.
// `by_key_` names the job that new callers join. When a job ends its other runs are dropped. Their leases stay, without
// a job, until the workers answer or are gone, for until then their slots are taken.
#include "server/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

// About what a restart takes.
constexpr absl::Duration kRestartDelay = absl::Seconds(2);

Outcome Refuse(absl::Status status, Reason reason, absl::Duration retry_delay = absl::ZeroDuration()) {
  Outcome outcome;
  outcome.status = std::move(status);
  outcome.reason = reason;
  outcome.retry_delay = retry_delay;
  return outcome;
}

Outcome QuarantinedOutcome(const Quarantine::Entry& entry) {
  Outcome outcome = Refuse(absl::FailedPreconditionError(entry.Why()), Reason::kQuarantined);
  outcome.reports = entry.reports;
  outcome.quarantined = true;
  return outcome;
}

}  // namespace

Scheduler::Scheduler(SchedulerConfig config, Clock clock, Executor& executor)
    : config_(config),
      clock_(std::move(clock)),
      executor_(executor),
      queue_(config.patience),
      quarantine_(config.quarantine_kills, config.quarantine_period) {}

void Scheduler::Run(const Calls& calls) {
  for (const auto& call : calls) call();
}

absl::Duration Scheduler::RetryDelayLocked() const {
  // About the time until a tenth of the queue is done: by then there is room, and callers do not all come at once.
  const absl::Duration estimate =
      run_times_.mean() * (static_cast<double>(queue_.size()) / 10 / std::max(workers_.Slots(), 1));
  return std::clamp(estimate, absl::Milliseconds(100), absl::Seconds(30));
}

std::optional<Outcome> Scheduler::RefusalLocked(const JobSpec& spec) {
  if (const Quarantine::Entry* entry = quarantine_.Find(spec.key, clock_())) return QuarantinedOutcome(*entry);
  if (draining_) {
    return Refuse(absl::UnavailableError("this server is draining; ask another, or this one later"), Reason::kDraining,
                  absl::Seconds(5));
  }
  if (!spec.may_queue) {
    return Refuse(
        absl::ResourceExhaustedError("the requests that wait hold as much memory as they may (--max-queued-mb)"),
        Reason::kMemoryFull, RetryDelayLocked());
  }
  if (queue_.size() >= config_.max_queued) {
    ++rejected_;
    return Refuse(absl::ResourceExhaustedError(absl::StrCat("the queue is full (", queue_.size(), " jobs)")),
                  Reason::kQueueFull, RetryDelayLocked());
  }
  if (const size_t own = queue_.CountOf(spec.tenant); own >= config_.max_queued_per_tenant) {
    ++rejected_;
    return Refuse(absl::ResourceExhaustedError(
                      absl::StrCat("tenant \"", spec.tenant, "\" has ", own, " jobs in the queue, as many as it may")),
                  Reason::kTenantQueueFull, RetryDelayLocked());
  }
  return std::nullopt;
}

absl::Duration Scheduler::RetryDelay() const {
  absl::MutexLock lock(&mu_);
  return RetryDelayLocked();
}

bool Scheduler::HasRoom() const {
  absl::MutexLock lock(&mu_);
  return queue_.size() < config_.max_queued;
}

Scheduler::WaiterId Scheduler::AddWaiterLocked(uint64_t job, Waiter waiter) {
  const WaiterId id = next_id_++;
  Job& joined_job = *jobs_[job];
  ExtendRunsLocked(joined_job, waiter.deadline);
  joined_job.waiters.push_back(id);
  joined_job.abandoned = absl::InfiniteFuture();
  if (++joined_job.tenants[waiter.tenant] == 1) queue_.Join(job, waiter.tenant);
  ++joined_job.callers;
  waiter.job = job;
  waiters_.Add(id, std::move(waiter));
  return id;
}

Scheduler::WaiterId Scheduler::Submit(JobSpec spec, absl::Time deadline, Recheck recheck, Done done) {
  Waiter waiter;
  waiter.done = std::move(done);
  waiter.refresh = spec.refresh;
  waiter.deadline = deadline;
  waiter.tenant = spec.tenant;
  std::optional<Outcome> refusal;
  WaiterId waiter_id = 0;
  uint64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    auto in_flight = by_key_.find(spec.key);
    if (in_flight != by_key_.end()) return JoinLocked(in_flight->second, spec, std::move(waiter));
    refusal = RefusalLocked(spec);
    if (!refusal.has_value()) {
      id = next_id_++;
      by_key_[spec.key] = id;
      Job& job = *(jobs_[id] = std::make_unique<Job>());
      job.spec = std::move(spec);
      job.created = clock_();
      EnterLocked(job, State::kReserved);
      if (peers_ != nullptr) NameFlightLocked(id);
      waiter_id = AddWaiterLocked(id, std::move(waiter));
    }
  }
  if (refusal.has_value()) {
    waiter.done(*refusal, false);
    return 0;
  }
  SettleReserved(id, recheck ? recheck() : std::nullopt);
  return waiter_id;
}

Scheduler::WaiterId Scheduler::JoinLocked(uint64_t id, const JobSpec& spec, Waiter waiter) {
  RaiseLocked(id, spec.job_class);
  waiter.joined = true;
  const WaiterId waiter_id = AddWaiterLocked(id, std::move(waiter));
  if (spec.refresh) RefreshLocked(id, spec);
  return waiter_id;
}

Scheduler::WaiterId Scheduler::Join(const std::string& key, absl::Time deadline, Done done) {
  absl::MutexLock lock(&mu_);
  auto in_flight = by_key_.find(key);
  if (in_flight == by_key_.end()) return 0;
  Waiter waiter;
  waiter.done = std::move(done);
  waiter.joined = true;
  waiter.deadline = deadline;
  waiter.tenant = jobs_[in_flight->second]->spec.tenant;
  return AddWaiterLocked(in_flight->second, std::move(waiter));
}

void Scheduler::SettleReserved(uint64_t id, std::optional<Outcome> stored) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    auto it = jobs_.find(id);
    if (it == jobs_.end()) return;  // Everybody left during the recheck.
    Job& job = *it->second;
    if (stored.has_value()) stored->stored = true;
    if (stored.has_value() && !WantsRunLocked(job)) {
      FinishLocked(id, *std::move(stored), &calls);
    } else {
      if (stored.has_value()) AnswerStoredLocked(id, *stored, &calls);
      if (peers_ != nullptr && !job.spec.refresh) {
        EnterLocked(job, State::kLooking);
        peers_->Look(job.flight, job.spec);
      } else {
        EnqueueLocked(id);
        DispatchLocked();
      }
    }
  }
  Run(calls);
}

void Scheduler::NameFlightLocked(uint64_t id) {
  Job& job = *jobs_[id];
  job.flight = next_id_++;
  by_flight_[job.flight] = id;
}

void Scheduler::EndFlightLocked(const Job& job) {
  if (peers_ == nullptr) return;
  by_flight_.erase(job.flight);
  peers_->Ended(job.flight);
}

void Scheduler::RefreshLocked(uint64_t id, const JobSpec& spec) {
  Job& job = *jobs_[id];
  if (job.spec.refresh) return;
  job.spec.refresh = true;
  job.spec.payload = spec.payload;
  if (job.state == State::kReserved || job.state == State::kRunning) return;
  if (peers_ != nullptr && !job.granted) {
    // A verdict may be on its way that counts no more; under the new name there is none.
    EndFlightLocked(job);
    NameFlightLocked(id);
  }
  DropClaimLocked(job);
  if (job.state == State::kQueued) queue_.Withhold(id);
  if (job.state != State::kQueued) EnqueueLocked(id);
  DispatchLocked();
}

void Scheduler::RaiseLocked(uint64_t id, JobClass job_class) {
  Job& job = *jobs_[id];
  if (job_class >= job.spec.job_class) return;
  job.spec.job_class = job_class;
  if (queue_.Remove(id)) EnqueueLocked(id);
}

void Scheduler::EnterLocked(Job& job, State state) {
  const auto arrives = [](State s) { return s == State::kReserved || s == State::kLooking; };
  if (arrives(state) && !arrives(job.state)) ++arriving_[job.spec.needs];
  if (!arrives(state) && arrives(job.state)) {
    auto it = arriving_.find(job.spec.needs);
    if (--it->second == 0) arriving_.erase(it);
  }
  job.state = state;
  job.followed = state == State::kFollowing ? clock_() : absl::InfiniteFuture();
}

void Scheduler::EnqueueLocked(uint64_t id) {
  Job& job = *jobs_[id];
  if (job.state != State::kQueued) job.queued = clock_();  // Else it only changes its place.
  EnterLocked(job, State::kQueued);
  const bool offerable = peers_ != nullptr && job.spec.offerable && !job.spec.refresh && !job.granted;
  JobQueue::Entry entry{id, job.spec.needs, job.spec.job_class, job.spec.tenant, job.created, offerable, {}};
  for (const auto& [tenant, count] : job.tenants) {
    if (tenant != entry.tenant) entry.joined.insert(tenant);
  }
  queue_.Push(entry);
}

void Scheduler::DispatchLocked() {
  bool progress = true;
  while (progress && queue_.size() > 0) {
    progress = false;
    for (const WorkerTable::Worker* worker : workers_.WithFreeSlot()) progress |= StartOnLocked(*worker);
  }
}

bool Scheduler::StartOnLocked(const WorkerTable::Worker& worker) {
  std::optional<uint64_t> id = queue_.Pop(
      [&](const Requirement& needs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return workers_.MayRun(worker, needs); },
      clock_());
  if (!id.has_value()) return false;
  Job& job = *jobs_[*id];
  const uint64_t lease = LeaseLocked(*id, worker.name);
  if (peers_ == nullptr || job.granted) {
    BeginLocked(*id, lease);
  } else {
    EnterLocked(job, State::kClaiming);
    job.claim = lease;
    peers_->Claim(job.flight, job.spec);
  }
  return true;
}

uint64_t Scheduler::LeaseLocked(uint64_t id, const std::string& worker) {
  const uint64_t lease = next_id_++;
  workers_.Grant(lease, id, worker);
  return lease;
}

void Scheduler::DropClaimLocked(Job& job) { workers_.Return(std::exchange(job.claim, 0)); }

void Scheduler::BeginLocked(uint64_t id, uint64_t lease) {
  Job& job = *jobs_[id];
  const std::string name = workers_.Find(lease)->worker;
  if (job.runs.empty()) job.started = clock_();
  EnterLocked(job, State::kRunning);
  job.runs.push_back({lease, name, clock_(), job.spec.refresh});
  job.worker = name;
  job.stage.clear();
  ++job.attempts;
  ++started_;
  executor_.Start(name, lease, job.spec, job.latest);
}

void Scheduler::DropRunLocked(const Attempt& run) {
  if (workers_.Find(run.lease) == nullptr) return;
  workers_.Disown(run.lease);
  executor_.Cancel(run.worker, run.lease);
}

bool Scheduler::Leave(WaiterId waiter) {
  Calls calls;
  bool waited;
  {
    absl::MutexLock lock(&mu_);
    waited = LeaveLocked(waiter, &calls);
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
  return waited;
}

void Scheduler::Extend(WaiterId id, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  if (!waiters_.Extend(id, deadline)) return;
  ExtendRunsLocked(*jobs_[waiters_.Find(id)->job], deadline);
}

void Scheduler::ExtendRunsLocked(Job& job, absl::Time deadline) {
  if (deadline <= job.latest) return;
  job.latest = deadline;
  for (const Attempt& run : job.runs) executor_.Extend(run.worker, run.lease, deadline);
}

Waiter Scheduler::TakeWaiterLocked(WaiterId id) {
  Waiter waiter = waiters_.Take(id);
  DepartLocked(waiter.job, waiter.tenant);
  return waiter;
}

void Scheduler::DepartLocked(uint64_t id, const std::string& tenant) {
  Job& job = *jobs_[id];
  if (--job.tenants[tenant] > 0) return;
  job.tenants.erase(tenant);
  if (tenant != job.spec.tenant) return queue_.Quit(id, tenant);
  if (job.tenants.empty()) return;
  // Its maker no longer waits: it is another caller's, in the line and in the count.
  job.spec.tenant = job.tenants.begin()->first;
  if (queue_.Remove(id)) EnqueueLocked(id);
}

bool Scheduler::LeaveLocked(WaiterId id, Calls* calls) {
  if (waiters_.Find(id) == nullptr) return false;
  const uint64_t job_id = TakeWaiterLocked(id).job;
  Job& job = *jobs_[job_id];
  job.waiters.erase(std::find(job.waiters.begin(), job.waiters.end(), id));
  if (job.waiters.empty()) AbandonLocked(job_id, calls);
  return true;
}

void Scheduler::AbandonLocked(uint64_t id, Calls* calls) {
  Job& job = *jobs_[id];
  if (std::any_of(job.runs.begin(), job.runs.end(), [](const Attempt& run) { return run.nearly_done; })) {
    job.abandoned = clock_();
    return;
  }
  CancelLocked(id, calls);
}

void Scheduler::CancelOverdueLocked(absl::Time now, Calls* calls) {
  std::vector<uint64_t> overdue;
  for (const auto& [id, job] : jobs_) {
    if (now - job->abandoned >= config_.last_stage_grace) overdue.push_back(id);
  }
  for (const uint64_t id : overdue) CancelLocked(id, calls);
}

void Scheduler::CancelLocked(uint64_t id, Calls* calls) {
  Job& job = *jobs_[id];
  Outcome outcome = Refuse(absl::CancelledError("nobody waits for it"), Reason::kCancelled);
  outcome.job = job.spec.id;
  ReportEndLocked(job, std::make_shared<const Outcome>(std::move(outcome)), calls);
  by_key_.erase(job.spec.key);
  for (const Attempt& run : job.runs) DropRunLocked(run);
  DropClaimLocked(job);
  queue_.Remove(id);
  EndFlightLocked(job);
  EnterLocked(job, State::kGone);
  jobs_.erase(id);
}

void Scheduler::Decide(uint64_t flight, Verdict verdict) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    auto named = by_flight_.find(flight);
    if (named == by_flight_.end()) return;
    ObeyLocked(named->second, std::move(verdict), &calls);
    DispatchLocked();
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::ObeyLocked(uint64_t id, Verdict verdict, Calls* calls) {
  Job& job = *jobs_[id];
  if (job.state == State::kRunning) return;
  switch (verdict.kind) {
    case Verdict::Kind::kOutcome:
      return FinishLocked(id, std::move(verdict.outcome), calls);
    case Verdict::Kind::kFollow:
      DropClaimLocked(job);
      queue_.Serve(id);
      stranded_since_.erase(job.spec.needs);  // Others come to its like, too.
      return EnterLocked(job, State::kFollowing);
    case Verdict::Kind::kQueue:
      DropClaimLocked(job);
      if (job.state != State::kQueued) EnqueueLocked(id);
      return;
    case Verdict::Kind::kRun:
      job.granted = true;
      if (job.state == State::kClaiming) return BeginLocked(id, std::exchange(job.claim, 0));
      if (job.state != State::kQueued) EnqueueLocked(id);
      return;
  }
}

void Scheduler::WorkerAttached(const std::string& name, WorkerOffer offer) {
  absl::MutexLock lock(&mu_);
  workers_.Attach(name, std::move(offer));
  DispatchLocked();
}

void Scheduler::RetireWorker(const std::string& name) {
  absl::MutexLock lock(&mu_);
  workers_.Retire(name);
  // What it was kept for, another worker may do.
  for (const uint64_t id : workers_.JobsOf(name)) {
    Job& job = *jobs_[id];
    if (job.claim == 0 || workers_.Find(job.claim)->worker != name) continue;
    DropClaimLocked(job);
    EnqueueLocked(id);
  }
  DispatchLocked();
}

void Scheduler::ForgetRun(Job& job, uint64_t lease) {
  job.runs.erase(
      std::find_if(job.runs.begin(), job.runs.end(), [&](const Attempt& run) { return run.lease == lease; }));
}

void Scheduler::WorkerLost(const std::string& name, const Loss& loss) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    const auto leases = workers_.Remove(name);
    if (!leases.has_value()) return;
    for (const auto& [lease, job] : *leases) {
      ++lost_;
      if (job == 0) continue;
      if (jobs_[job]->claim == lease) {  // It had not begun.
        jobs_[job]->claim = 0;
        EnqueueLocked(job);
        continue;
      }
      ForgetRun(*jobs_[job], lease);
      if (loss.kind == Loss::Kind::kDisconnected) SuspectLocked(*jobs_[job], lease);
      const bool begun = std::count(loss.begun.begin(), loss.begun.end(), lease) > 0;
      RetryOrFailLocked(job, loss, begun, &calls);
    }
    DispatchLocked();
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::SuspectLocked(const Job& job, uint64_t lease) {
  quarantine_.Suspect(lease, job.spec.key, job.spec.label, job.spec.tenant);
}

void Scheduler::Blame(uint64_t lease, const std::string& report) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    // What is said of it may overtake the loss itself.
    if (const Job* job = JobOfLeaseLocked(lease)) SuspectLocked(*job, lease);
    const std::string key = quarantine_.Convict(lease, report, clock_());
    auto in_flight = by_key_.find(key);
    if (key.empty() || in_flight == by_key_.end()) return;
    FinishLocked(in_flight->second, QuarantinedOutcome(quarantine_.EntryOf(key)), &calls);
    DispatchLocked();
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::RetryOrFailLocked(uint64_t id, const Loss& loss, bool begun, Calls* calls) {
  Job& job = *jobs_[id];
  ++job.losses;
  if (job.waiters.empty()) {
    FinishLocked(id, Refuse(absl::CancelledError("nobody waits for it"), Reason::kCancelled), calls);
    return;
  }
  const bool blamed = begun && (loss.kind == Loss::Kind::kCrashed || loss.kind == Loss::Kind::kTimeLimit);
  if (blamed && quarantine_.AddKill(job.spec.key, job.spec.label, job.spec.tenant, loss.report, clock_()) &&
      loss.kind == Loss::Kind::kCrashed) {
    FinishLocked(id, QuarantinedOutcome(quarantine_.EntryOf(job.spec.key)), calls);
  } else if (!job.runs.empty()) {
    return;  // The other run goes on.
  } else if (blamed && loss.kind == Loss::Kind::kTimeLimit) {
    Outcome outcome = Refuse(absl::DeadlineExceededError(loss.report), Reason::kTimeLimit);
    outcome.reports = {loss.report};
    FinishLocked(id, std::move(outcome), calls);
  } else if (job.losses > config_.max_losses) {
    FinishLocked(id,
                 Refuse(absl::UnavailableError(absl::StrCat("lost ", job.losses, " workers in a row: ", loss.report)),
                        Reason::kWorkerLost, RetryDelayLocked()),
                 calls);
  } else {
    EnqueueLocked(id);
  }
}

absl::Time Scheduler::BegunLocked(const Job& job) const {
  return job.attempts > 0 ? job.started : std::min(job.followed, clock_());
}

void Scheduler::DescribeEndLocked(const Job& job, Outcome* outcome) const {
  outcome->job = job.spec.id;
  outcome->worker = job.worker;
  outcome->attempts = job.attempts;
  outcome->queue_time = BegunLocked(job) - job.created;
}

void Scheduler::TellLocked(WaiterId id, const std::shared_ptr<const Outcome>& outcome, Calls* calls) {
  Waiter waiter = TakeWaiterLocked(id);
  calls->push_back([outcome, done = std::move(waiter.done), joined = waiter.joined] { done(*outcome, joined); });
}

void Scheduler::FinishLocked(uint64_t id, Outcome outcome, Calls* calls) {
  auto it = jobs_.find(id);
  Job& job = *it->second;
  auto named = by_key_.find(job.spec.key);
  if (named != by_key_.end() && named->second == id) by_key_.erase(named);
  queue_.Remove(id);
  DropClaimLocked(job);
  EndFlightLocked(job);
  const bool ran = job.attempts > 0;
  DescribeEndLocked(job, &outcome);
  if (ran) run_times_.Record(clock_() - job.started);
  for (const Attempt& run : job.runs) DropRunLocked(run);
  auto shared =
      std::make_shared<const Outcome>(std::move(outcome));  // Shared by the listener's and waiters' callbacks.
  if (ran || !shared->stored) ReportEndLocked(job, shared, calls);
  for (WaiterId waiter : job.waiters) TellLocked(waiter, shared, calls);
  EnterLocked(job, State::kGone);
  jobs_.erase(it);
}

bool Scheduler::WantsRunLocked(const Job& job) const {
  return std::any_of(job.waiters.begin(), job.waiters.end(),
                     [&](WaiterId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return waiters_.Find(id)->refresh; });
}

void Scheduler::AnswerStoredLocked(uint64_t id, const Outcome& outcome, Calls* calls) {
  Job& job = *jobs_[id];
  Outcome described = outcome;
  DescribeEndLocked(job, &described);
  auto shared = std::make_shared<const Outcome>(std::move(described));  // Shared by the waiters' callbacks.
  std::vector<WaiterId> left;
  for (WaiterId waiter : job.waiters) {
    if (waiters_.Find(waiter)->refresh) {
      left.push_back(waiter);
    } else {
      TellLocked(waiter, shared, calls);
    }
  }
  job.waiters = std::move(left);
}

bool Scheduler::RunAgainLocked(uint64_t id, uint64_t lease, const Outcome& outcome, Calls* calls) {
  Job& job = *jobs_[id];
  const auto run = std::find_if(job.runs.begin(), job.runs.end(), [&](const Attempt& r) { return r.lease == lease; });
  // A run that began before somebody came who refreshes may have ended with what is stored.
  if (!outcome.stored || run->refresh || !WantsRunLocked(job)) return false;
  AnswerStoredLocked(id, outcome, calls);
  for (const Attempt& other : job.runs) DropRunLocked(other);
  job.runs.clear();
  EnqueueLocked(id);
  return true;
}

// INTERNAL is what no input may bring about: a defect of the compiler, or of that worker's memory, disk or tools. One
// worker's word is not enough to tell all who wait.
bool Scheduler::RetryFlakeLocked(uint64_t id, uint64_t lease, const Outcome& outcome) {
  Job& job = *jobs_[id];
  if (!absl::IsInternal(outcome.status) || job.flakes >= config_.max_flakes || job.waiters.empty()) return false;
  ++job.flakes;
  ++flaked_;
  ForgetRun(job, lease);
  if (!job.runs.empty()) return true;  // The other run goes on.
  job.spec.needs.not_on = job.worker;
  EnqueueLocked(id);
  return true;
}

void Scheduler::ReportEndLocked(const Job& job, const std::shared_ptr<const Outcome>& outcome, Calls* calls) {
  if (!end_listener_) return;
  const absl::Time now = clock_();
  const bool ran = job.attempts > 0;
  FinishedJob end;
  end.id = job.spec.id;
  end.key = job.spec.key;
  end.label = job.spec.label;
  end.target = job.spec.needs.target;
  end.tenant = job.spec.tenant;
  end.worker = job.worker;
  end.job_class = job.spec.job_class;
  end.status = outcome->status;
  end.queue_time = BegunLocked(job) - job.created;
  end.run_time = ran ? now - job.started : absl::ZeroDuration();
  end.finished = now;
  end.attempts = job.attempts;
  end.callers = job.callers;
  end.payload = job.spec.payload;
  calls->push_back([this, end = std::move(end), outcome] { end_listener_(end, *outcome); });
}

Scheduler::Job* Scheduler::JobOfLeaseLocked(uint64_t lease) {
  const WorkerTable::Lease* found = workers_.Find(lease);
  return found == nullptr || found->job == 0 ? nullptr : jobs_[found->job].get();
}

void Scheduler::Reached(uint64_t lease, absl::string_view stage) {
  absl::MutexLock lock(&mu_);
  if (Job* job = JobOfLeaseLocked(lease)) job->stage = std::string(stage);
}

void Scheduler::NearlyDone(uint64_t lease) {
  absl::MutexLock lock(&mu_);
  Job* job = JobOfLeaseLocked(lease);
  if (job == nullptr) return;
  for (Attempt& run : job->runs) run.nearly_done |= run.lease == lease;
}

bool Scheduler::Holds(uint64_t lease) const {
  absl::MutexLock lock(&mu_);
  const WorkerTable::Lease* found = workers_.Find(lease);
  return found != nullptr && found->job != 0;
}

void Scheduler::Finish(uint64_t lease, Outcome outcome) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    const std::optional<WorkerTable::Lease> ended = workers_.End(lease);
    if (!ended.has_value()) return;
    if (ended->job != 0) {
      jobs_[ended->job]->worker = ended->worker;
      const bool again =
          RunAgainLocked(ended->job, lease, outcome, &calls) || RetryFlakeLocked(ended->job, lease, outcome);
      if (!again) FinishLocked(ended->job, std::move(outcome), &calls);
    }
    DispatchLocked();
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::RunStopped(uint64_t lease, const std::string& why) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    const std::optional<WorkerTable::Lease> ended = workers_.End(lease);
    if (!ended.has_value()) return;
    if (ended->job != 0) {
      ForgetRun(*jobs_[ended->job], lease);
      RetryOrFailLocked(ended->job, {Loss::Kind::kDisconnected, why, {}}, /*begun=*/false, &calls);
    }
    DispatchLocked();
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::Tick() {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    const absl::Time now = clock_();
    while (const std::optional<WaiterId> id = waiters_.FirstOverdue(now)) {
      const Waiter& waiter = *waiters_.Find(*id);
      const State state = jobs_[waiter.job]->state;
      Outcome outcome =
          Refuse(absl::DeadlineExceededError(state == State::kRunning ? "the deadline passed while the compile ran"
                                             : state == State::kFollowing
                                                 ? "the deadline passed while another daemon compiled"
                                                 : "the deadline passed while the job waited in the queue"),
                 Reason::kDeadline);
      calls.push_back(
          [outcome = std::move(outcome), done = waiter.done, joined = waiter.joined] { done(outcome, joined); });
      LeaveLocked(*id, &calls);
    }
    CancelOverdueLocked(now, &calls);
    FailStrandedLocked(now, &calls);
    DispatchLocked();
    HedgeLocked(now);
    CheckIdleLocked(now, &calls);
  }
  Run(calls);
}

absl::Duration Scheduler::StuckAfterLocked() const {
  const absl::Duration slowest = run_times_.Slowest().value_or(config_.hedge_after);
  return std::max(config_.hedge_after, slowest * config_.hedge_factor);
}

// After the queue has been served, so an idle worker is one that nobody else needs.
void Scheduler::HedgeLocked(absl::Time now) {
  std::optional<absl::Duration> stuck_after;
  for (auto& [id, job] : jobs_) {
    if (job->runs.size() != 1 || now - job->runs[0].started < config_.hedge_after) continue;
    if (!stuck_after.has_value()) stuck_after = StuckAfterLocked();
    if (now - job->runs[0].started < *stuck_after) continue;
    if (job->waiters.empty()) continue;
    const WorkerTable::Worker* spare = workers_.FindSpare(job->spec.needs, job->runs[0].worker);
    if (spare == nullptr) continue;
    ++hedged_;
    BeginLocked(id, LeaseLocked(id, spare->name));
  }
}

void Scheduler::FailStrandedLocked(absl::Time now, Calls* calls) {
  std::map<Requirement, absl::Time> stranded;
  for (const Requirement& needs : queue_.Needs()) {
    if (workers_.AnyCanRun(needs)) continue;
    auto known = stranded_since_.find(needs);
    const absl::Time since = known == stranded_since_.end() ? now : known->second;
    stranded[needs] = since;
    if (now - since < config_.no_worker_timeout) continue;
    for (uint64_t id : queue_.IdsWith(needs)) {
      if (now - jobs_[id]->queued < config_.no_worker_timeout) continue;
      FinishLocked(id,
                   Refuse(absl::UnavailableError(absl::StrCat("no worker for ", needs.target, " is attached")),
                          Reason::kNoWorker, absl::Seconds(5)),
                   calls);
    }
  }
  stranded_since_ = std::move(stranded);
}

void Scheduler::SetDraining(bool draining) {
  absl::MutexLock lock(&mu_);
  draining_ = draining;
}

bool Scheduler::draining() const {
  absl::MutexLock lock(&mu_);
  return draining_;
}

void Scheduler::WhenIdle(absl::Time deadline, std::function<void(size_t)> callback) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    idle_waiters_.push_back({deadline, std::move(callback)});
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::AbandonAll() {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    std::vector<uint64_t> ids;
    for (const auto& [id, job] : jobs_) ids.push_back(id);
    for (uint64_t id : ids) {
      FinishLocked(id,
                   Refuse(absl::UnavailableError("this server ended before the compile did; ask another, or this one "
                                                 "when it is back"),
                          Reason::kDraining, kRestartDelay),
                   &calls);
    }
    CheckIdleLocked(clock_(), &calls);
  }
  Run(calls);
}

void Scheduler::CheckIdleLocked(absl::Time now, Calls* calls) {
  for (auto it = idle_waiters_.begin(); it != idle_waiters_.end();) {
    // A dropped run still holds its worker.
    const size_t left = jobs_.size() + workers_.disowned();
    if (left > 0 && now < it->deadline) {
      ++it;
      continue;
    }
    calls->push_back([callback = std::move(it->callback), left] { callback(left); });
    it = idle_waiters_.erase(it);
  }
}

bool Scheduler::Release(const std::string& key) {
  absl::MutexLock lock(&mu_);
  return quarantine_.Release(key);
}

void Scheduler::Lock(const std::string& key, const std::string& reason) {
  absl::MutexLock lock(&mu_);
  quarantine_.Lock(key, reason, clock_());
}

}  // namespace tritond::server
