// SPDX-License-Identifier: Apache-2.0
// A local worker ends twice: its stream breaks and its process is reaped, in either order. The pool speaks of its end
// when the process is reaped, because only then it knows how. A process that outlives its stream is killed after a
// while.
#include "workers/pool/worker_pool.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "proto/plain_text/plain_text.h"
#include "timing/steady/steady_time.h"

namespace tritond::workers {
namespace {

using google::protobuf::util::TimeUtil;

// How many workers that vanished may still be explained, and for how long.
constexpr size_t kMostVanished = 1024;
constexpr absl::Duration kExplainedWithin = absl::Minutes(10);

// Of a clock that shows `now`.
google::protobuf::Timestamp ToProto(absl::Time time, absl::Time now) {
  return TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(timing::ToWallTime(time, now)));
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  constexpr absl::Duration kLongest = absl::Hours(1000000);
  return TimeUtil::MillisecondsToDuration(
      absl::ToInt64Milliseconds(std::clamp(duration, absl::ZeroDuration(), kLongest)));
}

// What a worker says of itself goes into logs, metrics and pages, and is kept.
bool IsReasonable(const v1::Hello& hello) {
  constexpr size_t kMostName = 256, kMostBuildId = 1024;
  constexpr int kMostTargets = 256, kMostDevices = 256, kMostLeases = 256, kMostSignal = 128;
  const auto is_text = [](const std::string& text, size_t most) {
    return text.size() <= most && proto::IsPlainText(text);
  };
  const auto fits = [&](const auto& named) { return is_text(named.name(), kMostName); };
  return fits(hello) && is_text(hello.host(), kMostName) && is_text(hello.build_id(), kMostBuildId) &&
         is_text(hello.supervisor(), kMostName) && is_text(hello.confinement(), kMostName) &&
         hello.targets_size() <= kMostTargets && hello.last_end().leases_size() <= kMostLeases &&
         hello.last_end().signal() >= 0 && hello.last_end().signal() <= kMostSignal &&
         hello.devices_size() <= kMostDevices && std::all_of(hello.targets().begin(), hello.targets().end(), fits) &&
         std::all_of(hello.devices().begin(), hello.devices().end(), fits);
}

}  // namespace

WorkerPool::WorkerPool(PoolConfig config, std::function<absl::Time()> clock,
                       std::function<void(const std::string&)> log, PoolListener& listener)
    : config_(std::move(config)), clock_(std::move(clock)), log_(std::move(log)), listener_(listener) {
  children_ = std::make_unique<ChildProcesses>(
      config_.children, [this](const ChildEnd& end) { OnChildEnd(end); },
      [this](pid_t pid, const std::string& line) { log_(absl::StrCat("worker ", pid, ": ", line)); });
}

void WorkerPool::StartChildren() { children_->Start(); }

void WorkerPool::StopChildren(absl::Duration grace) {
  std::set<pid_t> at_once;
  for (const ChildProcesses::Child& child : children_->List()) at_once.insert(child.pid);
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    for (auto& [id, worker] : workers_) {
      if (!worker.local || !worker.leases.empty()) continue;
      at_once.erase(static_cast<pid_t>(worker.hello.pid()));
      v1::DaemonMessage message;
      message.mutable_drain();
      worker.session->Send(std::move(message));
    }
  }
  children_->Stop(grace, at_once);
}

grpc::ServerBidiReactor<v1::WorkerMessage, v1::DaemonMessage>* WorkerPool::Attach(
    grpc::CallbackServerContext* context) {
  const grpc::Status admitted = config_.admit ? config_.admit(*context) : grpc::Status::OK;
  if (!admitted.ok()) return Session::Refuse(context, admitted).get();
  Session::Handlers handlers;
  handlers.on_message = [this](const std::shared_ptr<Session>& session, v1::WorkerMessage message) {
    OnMessage(session, std::move(message));
  };
  handlers.on_end = [this](const std::shared_ptr<Session>& session) { OnStreamEnd(session); };
  return Session::Open(context, std::move(handlers)).get();
}

WorkerPool::WorkerRecord* WorkerPool::FindLocked(const std::shared_ptr<Session>& session) {
  for (auto& [id, worker] : workers_) {
    if (worker.session == session) return &worker;
  }
  return nullptr;
}

void WorkerPool::Welcome(const std::shared_ptr<Session>& session, const v1::Hello& hello) {
  if (!IsReasonable(hello)) {
    session->Close(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                                "Hello has names longer than any is, names with control characters, or too many"));
    return;
  }
  std::string id;
  Calls before;
  {
    absl::MutexLock lock(&mu_);
    if (stopping_ || FindLocked(session) != nullptr) {
      session->Close(grpc::Status(grpc::StatusCode::UNAVAILABLE, "this daemon shuts down, or said hello already"));
      return;
    }
    HearOfLastEndLocked(hello, &before);
    id = absl::StrCat("w", next_worker_++);
    WorkerRecord& worker = workers_[id];
    worker.id = id;
    worker.hello = hello;
    worker.session = session;
    worker.local = absl::StartsWith(session->peer(), "fd:") && children_->Owns(hello.pid());
    worker.attached = worker.last_heard = clock_();
    v1::DaemonMessage message;
    message.mutable_welcome()->set_worker_id(id);
    message.mutable_welcome()->set_max_ir_bytes(config_.max_ir_bytes);
    *message.mutable_welcome()->mutable_heartbeat_interval() = ToProto(config_.heartbeat_interval);
    session->Send(std::move(message));
  }
  for (const auto& call : before) call();
  log_(absl::StrCat("worker ", id, " (", hello.name(), ") attached with ", hello.targets_size(), " targets"));
  listener_.OnAttached(id, hello);
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    auto it = workers_.find(id);
    if (it != workers_.end()) {
      it->second.announced = true;
    } else {
      // It ended while the listener heard of its coming; now the listener may hear of its end.
      WorkerEnd end;
      end.report = "ended as it attached";
      calls.push_back([this, id, end] { listener_.OnEnded(id, end); });
    }
  }
  for (const auto& call : calls) call();
}

void WorkerPool::HearOfLastEndLocked(const v1::Hello& hello, Calls* calls) {
  if (hello.supervisor().empty()) return;
  // A supervisor runs one process at a time: one that is attached has ended, whatever its stream looks like.
  std::vector<WorkerRecord*> before;
  for (auto& [id, worker] : workers_) {
    if (!worker.local && worker.hello.supervisor() == hello.supervisor()) before.push_back(&worker);
  }
  for (WorkerRecord* worker : before) {
    EndLocked(worker, WorkerEnd::Kind::kDisconnected, "another process has taken its place", SuspectsOf(*worker),
              calls);
  }
  const v1::LastEnd& end = hello.last_end();
  const std::string report = absl::StrCat(HowItEnded(end.signal(), end.exit_status()), " of the remote worker \"",
                                          hello.name(), "\", whose own log has its last lines");
  const absl::Time now = clock_();
  for (const Vanished& vanished : vanished_) {
    if (vanished.supervisor != hello.supervisor() || now - vanished.when > kExplainedWithin) continue;
    for (const uint64_t lease : end.leases()) {
      if (vanished.leases.count(lease) == 0) continue;
      log_(absl::StrCat("worker (", hello.name(), ") was killed under lease ", lease, ": ", report));
      calls->push_back([this, lease, report] { listener_.OnKilled(lease, report); });
    }
  }
  vanished_.erase(std::remove_if(vanished_.begin(), vanished_.end(),
                                 [&](const Vanished& vanished) { return vanished.supervisor == hello.supervisor(); }),
                  vanished_.end());
}

void WorkerPool::OnMessage(const std::shared_ptr<Session>& session, v1::WorkerMessage message) {
  if (message.has_hello()) return Welcome(session, message.hello());
  std::string id;
  uint64_t lease = 0;
  {
    absl::MutexLock lock(&mu_);
    WorkerRecord* worker = FindLocked(session);
    if (worker == nullptr) {
      session->Close(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the first message must be Hello"));
      return;
    }
    id = worker->id;
    worker->last_heard = clock_();
    if (message.has_heartbeat()) worker->resident_bytes = message.heartbeat().resident_bytes();
    if (message.has_retire()) worker->retiring = true;
    lease = message.has_progress()   ? message.progress().lease()
            : message.has_query()    ? message.query().lease()
            : message.has_compiled() ? message.compiled().lease()
            : message.has_measured() ? message.measured().lease()
                                     : 0;
    auto it = worker->leases.find(lease);
    if (it == worker->leases.end()) {
      // Fenced: given to another since, or never this one's.
      if (message.has_progress() || message.has_query() || message.has_compiled() || message.has_measured()) return;
    } else if (message.has_progress()) {
      it->second.begun = true;
    } else if (message.has_compiled() || message.has_measured()) {
      worker->leases.erase(it);
      if (worker->local) children_->MarkUseful(worker->hello.pid());
    }
  }
  if (message.has_progress()) listener_.OnProgress(id, lease, message.progress().stage());
  if (message.has_query()) listener_.OnQuery(id, std::move(*message.mutable_query()));
  if (message.has_compiled()) listener_.OnOutcome(id, std::move(*message.mutable_compiled()));
  if (message.has_measured()) listener_.OnMeasured(id, std::move(*message.mutable_measured()));
  if (message.has_retire()) {
    log_(absl::StrCat("worker ", id, " retires"));
    listener_.OnRetire(id);
    v1::DaemonMessage last;
    last.mutable_drain();
    session->Send(std::move(last));
  }
  if (message.has_log()) log_(absl::StrCat("worker ", id, ": ", message.log().text()));
}

void WorkerPool::OnStreamEnd(const std::shared_ptr<Session>& session) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    WorkerRecord* worker = FindLocked(session);
    if (worker == nullptr) return;
    // How a child has ended its process tells.
    const bool in_order = !worker->local && worker->retiring && worker->leases.empty();
    EndLocked(worker, in_order ? WorkerEnd::Kind::kStopped : WorkerEnd::Kind::kDisconnected,
              in_order ? "it has retired" : "its stream ended", SuspectsOf(*worker), &calls);
  }
  for (const auto& call : calls) call();
}

bool WorkerPool::IsWanted(const LeaseRecord& lease, absl::Time now) {
  // After its deadline a worker ends by itself when the compile does not.
  return lease.cancelled == absl::InfiniteFuture() && now < lease.deadline;
}

std::vector<uint64_t> WorkerPool::SuspectsOf(const WorkerRecord& worker) const {
  std::vector<uint64_t> suspects;
  const absl::Time now = clock_();
  for (const auto& [lease, record] : worker.leases) {
    if (record.begun && IsWanted(record, now)) suspects.push_back(lease);
  }
  return suspects;
}

void WorkerPool::EndLocked(WorkerRecord* worker, WorkerEnd::Kind kind, const std::string& report,
                           std::vector<uint64_t> begun, Calls* calls) {
  if (worker->ending == absl::InfiniteFuture()) {
    worker->ending = clock_();
    worker->planned = {kind, report, std::move(begun)};
  }
  if (worker->local) {
    if (kind != WorkerEnd::Kind::kDisconnected) children_->Kill(worker->hello.pid());
    return;  // OnChildEnd, which knows how it ended, goes on; Tick does when that does not come.
  }
  RemoveLocked(worker->id, worker->planned, calls);
}

void WorkerPool::RemoveLocked(std::string id, WorkerEnd end, Calls* calls) {
  auto it = workers_.find(id);
  it->second.session->Close(grpc::Status(grpc::StatusCode::UNAVAILABLE, end.report));
  const bool announced = it->second.announced;
  Vanished vanished{it->second.hello.supervisor(), {}, clock_()};
  for (const auto& [lease, record] : it->second.leases) {
    if (IsWanted(record, vanished.when)) vanished.leases.insert(lease);
  }
  const bool explicable = !vanished.supervisor.empty() && !it->second.local && !vanished.leases.empty();
  if (explicable && end.kind == WorkerEnd::Kind::kDisconnected) {
    vanished_.push_back(std::move(vanished));
    if (vanished_.size() > kMostVanished) vanished_.pop_front();
  }
  workers_.erase(it);
  log_(absl::StrCat("worker ", id, " is gone: ", end.report));
  if (announced) calls->push_back([this, id, end] { listener_.OnEnded(id, end); });
}

void WorkerPool::OnChildEnd(const ChildEnd& child) {
  Calls calls;
  bool attached = false;
  {
    absl::MutexLock lock(&mu_);
    for (auto& [id, worker] : workers_) {
      if (!worker.local || worker.hello.pid() != child.pid) continue;
      attached = true;
      WorkerEnd end = worker.planned;
      const bool ours = worker.ending != absl::InfiniteFuture() && end.kind != WorkerEnd::Kind::kDisconnected;
      if (!ours) {
        end.begun = SuspectsOf(worker);
        const bool all_cancelled = end.begun.empty() && !worker.leases.empty();
        // A worker that ends in order between two jobs makes room for a fresh one.
        const bool recycled = child.clean && end.begun.empty();
        end.kind = stopping_ || all_cancelled || recycled ? WorkerEnd::Kind::kStopped
                   : child.clean                          ? WorkerEnd::Kind::kDisconnected
                                                          : WorkerEnd::Kind::kCrashed;
        end.report = child.report;
      }
      RemoveLocked(id, std::move(end), &calls);
      break;
    }
    if (!attached && !stopping_) {
      log_(absl::StrCat("worker process ", child.pid, " ended before it attached: ", child.report));
      calls.push_back([this] { listener_.OnFailedStart(); });
    }
  }
  for (const auto& call : calls) call();
}

void WorkerPool::Start(const std::string& id, v1::Lease lease, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  auto it = workers_.find(id);
  if (it == workers_.end()) return;
  LeaseRecord& record = it->second.leases[lease.id()];
  record.started = clock_();
  record.deadline = deadline;
  if (deadline != absl::InfiniteFuture()) *lease.mutable_remaining() = ToProto(deadline - record.started);
  *lease.mutable_time_limit() = ToProto(config_.job_time_limit);
  v1::DaemonMessage message;
  *message.mutable_lease() = std::move(lease);
  it->second.session->Send(std::move(message));
}

void WorkerPool::Extend(const std::string& id, uint64_t lease, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  auto it = workers_.find(id);
  if (it == workers_.end()) return;
  auto record = it->second.leases.find(lease);
  if (record == it->second.leases.end()) return;
  record->second.deadline = deadline;
  v1::DaemonMessage message;
  message.mutable_extend()->set_lease(lease);
  if (deadline != absl::InfiniteFuture()) *message.mutable_extend()->mutable_remaining() = ToProto(deadline - clock_());
  it->second.session->Send(std::move(message));
}

void WorkerPool::Answer(const std::string& id, v1::StepAnswer answer) {
  absl::MutexLock lock(&mu_);
  auto it = workers_.find(id);
  if (it == workers_.end()) return;
  v1::DaemonMessage message;
  *message.mutable_answer() = std::move(answer);
  it->second.session->Send(std::move(message));
}

void WorkerPool::Cancel(const std::string& id, uint64_t lease) {
  absl::MutexLock lock(&mu_);
  auto it = workers_.find(id);
  if (it == workers_.end()) return;
  auto record = it->second.leases.find(lease);
  if (record == it->second.leases.end()) return;
  record->second.cancelled = clock_();
  v1::DaemonMessage message;
  message.mutable_cancel()->set_lease(lease);
  it->second.session->Send(std::move(message));
}

void WorkerPool::Tick() {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    const absl::Time now = clock_();
    for (auto it = workers_.begin(); it != workers_.end();) {
      WorkerRecord* worker = &(it++)->second;  // CheckLocked may remove it.
      CheckLocked(worker, now, &calls);
    }
  }
  for (const auto& call : calls) call();
}

void WorkerPool::CheckLocked(WorkerRecord* worker, absl::Time now, Calls* calls) {
  if (worker->ending != absl::InfiniteFuture()) {
    if (now - worker->ending < config_.exit_grace) return;
    if (children_->Owns(worker->hello.pid())) {
      children_->Kill(worker->hello.pid());
    } else {
      RemoveLocked(worker->id, worker->planned, calls);  // Its process ended before it was known to be this worker's.
    }
    return;
  }
  if (now - worker->last_heard > config_.lost_after) {
    const std::string report = absl::StrCat("sent nothing for ", absl::FormatDuration(now - worker->last_heard));
    // A child hangs through its own doing; a remote one may be cut off through nobody's.
    const auto kind = worker->local ? WorkerEnd::Kind::kCrashed : WorkerEnd::Kind::kDisconnected;
    return EndLocked(worker, kind, report, SuspectsOf(*worker), calls);
  }
  for (const auto& [lease, record] : worker->leases) {
    if (now - record.started > config_.job_time_limit) {
      const std::string report = absl::StrCat("the compile ran longer than the limit of ",
                                              absl::FormatDuration(config_.job_time_limit), " and was stopped");
      return EndLocked(worker, WorkerEnd::Kind::kTimeLimit, report, {lease}, calls);
    }
    if (now - record.cancelled > config_.cancel_grace) {
      return EndLocked(worker, WorkerEnd::Kind::kStopped, "its compile was cancelled", {}, calls);
    }
  }
}

v1::Worker WorkerPool::Describe(const WorkerRecord& record) const {
  const absl::Time now = clock_();
  v1::Worker worker;
  worker.set_id(record.id);
  worker.set_name(record.hello.name());
  worker.set_state(record.retiring         ? v1::Worker::STATE_DRAINING
                   : record.leases.empty() ? v1::Worker::STATE_IDLE
                                           : v1::Worker::STATE_BUSY);
  worker.set_local(record.local);
  worker.set_pid(record.hello.pid());
  worker.set_host(record.hello.host());
  worker.set_confinement(record.hello.confinement());
  *worker.mutable_labels() = record.hello.labels();
  worker.set_build_id(record.hello.build_id());
  *worker.mutable_targets() = record.hello.targets();
  *worker.mutable_devices() = record.hello.devices();
  worker.set_slots(std::max(record.hello.slots(), 1u));
  worker.set_resident_bytes(record.resident_bytes);
  *worker.mutable_attached() = ToProto(record.attached, now);
  *worker.mutable_last_heard() = ToProto(record.last_heard, now);
  return worker;
}

std::vector<v1::Worker> WorkerPool::List() const {
  const std::vector<ChildProcesses::Child> children = children_->List();
  std::vector<v1::Worker> list;
  absl::MutexLock lock(&mu_);
  for (const auto& [id, record] : workers_) list.push_back(Describe(record));
  for (const ChildProcesses::Child& child : children) {
    const bool running = child.state == ChildProcesses::Child::State::kRunning;
    auto attached = std::find_if(list.begin(), list.end(), [&](const v1::Worker& worker) {
      return running && worker.local() && worker.pid() == child.pid;
    });
    const bool known = attached != list.end();
    v1::Worker& worker = known ? *attached : list.emplace_back();
    worker.set_deaths(child.deaths);
    worker.set_last_death(child.last_death);
    if (known) continue;
    worker.set_local(true);
    worker.set_state(running ? v1::Worker::STATE_STARTING : v1::Worker::STATE_BACKING_OFF);
    if (running) worker.set_pid(child.pid);
    if (!running) *worker.mutable_next_start() = ToProto(child.next_start, timing::SteadyNow());
  }
  return list;
}

}  // namespace tritond::workers
