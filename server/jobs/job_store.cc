// SPDX-License-Identifier: Apache-2.0
// Two records a job: "job/ID", the v1::Job as clients see it, and "prepared/ID", the request (job_request.h), until it
// has ended. The request is written first and the job is removed last, so a job in the journal that has not ended has
// its request. Earlier versions wrote "request/ID" in its place, the v1::CompileRequest as it was sent.
#include "server/jobs/job_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "proto/request_key/request_key.h"
#include "server/errors/error_details.h"
#include "server/jobs/job_class.h"

namespace tritond::server {
namespace {

constexpr absl::string_view kJobPrefix = "job/";
constexpr absl::string_view kPreparedPrefix = "prepared/";
constexpr absl::string_view kAsSentPrefix = "request/";
constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr absl::Duration kReadAgain = absl::Seconds(5);
// Each try reads the request anew.
constexpr absl::Duration kLeastRetry = absl::Seconds(1);
// Between tries for want of a worker, and between looks whether one is there, which cost no read.
constexpr absl::Duration kMostRetry = absl::Minutes(1);
constexpr int kMostDoublings = 5;
constexpr absl::Duration kLookAgain = absl::Seconds(2);
// For those whose jobs are not accepted now.
constexpr absl::Duration kRetryDelay = absl::Seconds(5);

google::protobuf::Timestamp ToProto(absl::Time time) {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixNanos(google::protobuf::util::TimeUtil::TimestampToNanoseconds(time));
}

std::string RequestName(const std::string& id, bool as_sent) {
  return absl::StrCat(as_sent ? kAsSentPrefix : kPreparedPrefix, id);
}

// The request in a record; nothing where it cannot be read.
std::optional<JobRequest> Decode(absl::string_view record, bool as_sent) {
  if (!as_sent) return DecodeJobRequest(record);
  JobRequest request;
  if (!request.message.ParseFromArray(record.data(), static_cast<int>(record.size()))) return std::nullopt;
  return request;
}

// What an idempotency key stands for, whatever the build; "" for a request that cannot be prepared.
std::string DigestOf(JobRequest request) {
  if (request.source.has_value())
    return proto::PreparedRequest(std::move(request.message), *std::move(request.source)).Key(/*build_id=*/"");
  const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(std::move(request.message));
  return prepared.ok() ? prepared->Key(/*build_id=*/"") : "";
}

absl::Status UnknownJob(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("there is no job ", id, ", or it ended too long ago"));
}

absl::Status NotWritten(const absl::Status& status) {
  return WithReason(
      absl::Status(status.code(),
                   absl::StrCat("the job cannot be written down now, so it is not accepted: ", status.message())),
      Reason::kNotWritten, kRetryDelay);
}

absl::Status TooManyJobs(const std::string& message) {
  return WithReason(absl::ResourceExhaustedError(message), Reason::kTooManyJobs, kRetryDelay);
}

}  // namespace

bool JobStore::HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED || state == v1::JOB_STATE_CANCELLED;
}

JobStore::JobStore(JobStoreConfig config, Clock clock, Clock wall_clock, cache::Journal& journal, JobRunner& runner,
                   TaskQueue& tasks)
    : config_(config),
      clock_(std::move(clock)),
      wall_clock_(std::move(wall_clock)),
      journal_(journal),
      runner_(runner),
      tasks_(tasks),
      queue_(kPatience) {}

absl::Status JobStore::Write(const v1::Job& job) {
  return journal_.Put(absl::StrCat(kJobPrefix, job.id()), job.SerializeAsString());
}

absl::Status JobStore::LoadRequests(const std::set<std::string>& idempotent, std::map<std::string, Stored>* requests,
                                    const std::function<void(const std::string&)>& log) {
  absl::Status status;
  for (bool as_sent : {true, false}) {
    const absl::string_view prefix = as_sent ? kAsSentPrefix : kPreparedPrefix;
    status.Update(journal_.Visit(prefix, [&](absl::string_view name, absl::string_view value) {
      std::optional<JobRequest> request = Decode(value, as_sent);
      if (!request.has_value()) return log(absl::StrCat("jobs: the record ", name, " cannot be read"));
      const std::string id(name.substr(prefix.size()));
      (*requests)[id] = {value.size(), as_sent, idempotent.count(id) > 0 ? DigestOf(*std::move(request)) : ""};
    }));
  }
  return status;
}

absl::Status JobStore::Load(const std::function<void(const std::string&)>& log) {
  std::vector<v1::Job> jobs;
  std::set<std::string> idempotent;
  absl::Status status = journal_.Visit(kJobPrefix, [&](absl::string_view name, absl::string_view value) {
    v1::Job job;
    const absl::string_view id = name.substr(kJobPrefix.size());
    if (!job.ParseFromArray(value.data(), static_cast<int>(value.size())) || job.id() != id)
      return log(absl::StrCat("jobs: the record ", name, " cannot be read"));
    if (!job.idempotency_key().empty()) idempotent.insert(job.id());
    jobs.push_back(std::move(job));
  });
  if (!status.ok()) return status;
  std::map<std::string, Stored> requests;
  if (status = LoadRequests(idempotent, &requests, log); !status.ok()) return status;
  const auto is_lost = [&](const v1::Job& job) {
    if (HasEnded(job.state()) || requests.count(job.id()) > 0) return false;
    log(absl::StrCat("jobs: the request of ", job.id(), " cannot be read"));
    return true;
  };
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(), is_lost), jobs.end());
  // In the order in which they were submitted.
  std::sort(jobs.begin(), jobs.end(), [](const v1::Job& a, const v1::Job& b) { return a.id() < b.id(); });
  {
    absl::MutexLock lock(&mu_);
    for (v1::Job& job : jobs) {
      Stored request = std::move(requests[job.id()]);
      InsertLocked(std::move(job), std::move(request));
    }
    std::sort(ended_.begin(), ended_.end(),
              [&](const std::string& a, const std::string& b) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
                return FromProto(records_[a].job.finished()) < FromProto(records_[b].job.finished());
              });
  }
  Tick();
  return absl::OkStatus();
}

void JobStore::InsertLocked(v1::Job job, Stored request) {
  const std::string id = job.id();
  if (!job.idempotency_key().empty()) by_idempotency_key_[{job.tenant(), job.idempotency_key()}] = id;
  Record& record = records_[id];
  record.job = std::move(job);
  record.digest = std::move(request.digest);
  record.as_sent = request.as_sent;
  if (HasEnded(record.job.state())) {
    ended_.push_back(id);
    return;
  }
  record.request_bytes = request.bytes;
  record.number = next_number_++;
  by_number_[record.number] = id;
  ++open_;
  ++open_of_[record.job.tenant()];
  EnqueueLocked(record);
}

void JobStore::EnqueueLocked(const Record& record) {
  JobQueue::Entry entry;
  entry.id = record.number;
  entry.job_class = ClassOf(record.job.priority());
  entry.tenant = record.job.tenant();
  entry.enqueued = clock_() - std::max(wall_clock_() - FromProto(record.job.created()), absl::ZeroDuration());
  queue_.Push(entry);
}

absl::Status JobStore::RefusalLocked(const std::string& tenant) const {
  if (closed_)
    return WithReason(absl::UnavailableError("this server is shutting down"), Reason::kNotWritten, kRetryDelay);
  if (open_ >= config_.max_open)
    return TooManyJobs(absl::StrCat("there are ", open_, " open jobs, as many as this server takes"));
  auto own = open_of_.find(tenant);
  if (own != open_of_.end() && own->second >= config_.max_open_per_tenant)
    return TooManyJobs(absl::StrCat("tenant \"", tenant, "\" has ", own->second, " open jobs, as many as it may"));
  return absl::OkStatus();
}

absl::StatusOr<v1::Job> JobStore::Submit(const proto::PreparedRequest& request, const std::string& idempotency_key,
                                         const std::string& key) {
  const v1::CompileRequest& message = request.message();
  const std::string digest = idempotency_key.empty() ? "" : request.Key(/*build_id=*/"");
  v1::Job job;
  {
    absl::MutexLock lock(&mu_);
    if (!closed_ && !idempotency_key.empty()) {
      auto known = by_idempotency_key_.find({message.tenant(), idempotency_key});
      if (known != by_idempotency_key_.end()) {
        const Record& record = records_[known->second];
        const bool same = record.digest.empty() ? record.job.target() == message.target() : record.digest == digest;
        if (same) return record.job;
        return WithReason(
            absl::AlreadyExistsError(absl::StrCat("the idempotency key \"", idempotency_key, "\" is that of the job ",
                                                  record.job.id(), ", which compiles something else")),
            Reason::kIdempotencyKeyReused);
      }
    }
    absl::Status refusal = RefusalLocked(message.tenant());
    if (!refusal.ok()) return refusal;
    job.set_id(ids_.Next(wall_clock_()));
  }
  job.set_state(v1::JOB_STATE_QUEUED);
  job.set_key(key);
  job.set_target(message.target());
  job.set_label(message.label());
  job.set_tenant(message.tenant());
  job.set_priority(message.priority());
  job.set_idempotency_key(idempotency_key);
  *job.mutable_created() = ToProto(wall_clock_());
  const std::string record = EncodeJobRequest(request);
  absl::Status status = journal_.Put(RequestName(job.id(), /*as_sent=*/false), record);
  if (status.ok()) status = Write(job);
  if (!status.ok()) {
    RemoveRequest(job.id(), /*as_sent=*/false);
    return NotWritten(status);
  }
  {
    absl::MutexLock lock(&mu_);
    InsertLocked(job, {record.size(), /*as_sent=*/false, digest});
  }
  tasks_.Run([this] { StartSome(); });
  return job;
}

absl::StatusOr<v1::Job> JobStore::Get(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  auto it = records_.find(id);
  if (it == records_.end()) return UnknownJob(id);
  return it->second.job;
}

std::vector<v1::Job> JobStore::List(const std::set<v1::JobState>& states, absl::string_view tenant,
                                    absl::string_view after, size_t limit) const {
  absl::MutexLock lock(&mu_);
  std::vector<v1::Job> jobs;
  auto it = after.empty() ? records_.end() : records_.lower_bound(after);
  while (it != records_.begin() && jobs.size() < limit) {
    --it;
    const v1::Job& job = it->second.job;
    const bool wanted = (states.empty() || states.count(job.state()) > 0) && (tenant.empty() || job.tenant() == tenant);
    if (wanted) jobs.push_back(job);
  }
  return jobs;
}

absl::StatusOr<v1::Job> JobStore::Cancel(absl::string_view id) {
  const std::string name(id);
  bool started = false;
  {
    absl::MutexLock lock(&mu_);
    auto it = records_.find(id);
    if (it == records_.end()) return UnknownJob(id);
    if (HasEnded(it->second.job.state())) return it->second.job;
    it->second.cancelled = true;
    started = it->second.started;
  }
  if (started) runner_.Stop(name);
  JobEnd end;
  end.status = absl::CancelledError("cancelled");
  End(name, end);
  return Get(id);
}

void JobStore::Run(const Calls& calls) {
  for (const auto& watch : calls) watch->Deliver();
}

void JobStore::NotifyLocked(Record& record, Calls* calls) {
  for (uint64_t watch : record.watches) {
    calls->push_back(watches_[watch].second);
    calls->back()->Push(record.job);
  }
}

absl::StatusOr<uint64_t> JobStore::Watch(absl::string_view id, Watcher watcher) {
  auto watch = std::make_shared<JobWatch>(std::move(watcher));
  uint64_t number = 0;
  {
    absl::MutexLock lock(&mu_);
    auto it = records_.find(id);
    if (it == records_.end()) return UnknownJob(id);
    number = next_watch_++;
    watches_[number] = {std::string(id), watch};
    if (!HasEnded(it->second.job.state())) it->second.watches.push_back(number);
    watch->Push(it->second.job);
  }
  watch->Deliver();
  return number;
}

void JobStore::Unwatch(uint64_t watch) {
  absl::MutexLock lock(&mu_);
  auto it = watches_.find(watch);
  if (it == watches_.end()) return;
  it->second.second->Leave();
  auto record = records_.find(it->second.first);
  if (record != records_.end()) {
    auto& all = record->second.watches;
    all.erase(std::remove(all.begin(), all.end(), watch), all.end());
  }
  watches_.erase(it);
}

void JobStore::OnProgress(absl::string_view key, v1::Stage stage) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    auto ids = by_key_.find(key);
    if (ids == by_key_.end()) return;
    for (const std::string& id : ids->second) {
      Record& record = records_[id];
      if (stage == v1::STAGE_UNSPECIFIED) {
        record.job.set_attempts(record.job.attempts() + 1);
        *record.job.mutable_started() = ToProto(wall_clock_());
      }
      record.job.set_state(v1::JOB_STATE_RUNNING);
      record.job.set_stage(stage);
      NotifyLocked(record, &calls);
    }
  }
  Run(calls);
}

void JobStore::EndPausesLocked(absl::Time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    std::string id = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    auto it = records_.find(id);
    if (it == records_.end() || HasEnded(it->second.job.state())) continue;
    if (it->second.waits_for_worker && !runner_.MayRun(it->second.job.target())) {
      delayed_.emplace(now + kLookAgain, std::move(id));
    } else {
      EnqueueLocked(it->second);
    }
  }
}

void JobStore::SetWaitsLocked(Record& record, bool waits) {
  if (record.waits_for_worker == waits) return;
  record.waits_for_worker = waits;
  auto count = waiting_for_workers_.try_emplace(record.job.target(), 0).first;
  count->second += waits ? 1 : -1;
  if (count->second == 0) waiting_for_workers_.erase(count);
}

std::map<std::string, size_t> JobStore::WaitingForWorkers() const {
  absl::MutexLock lock(&mu_);
  return waiting_for_workers_;
}

std::optional<std::string> JobStore::NextLocked() {
  if (closed_ || started_ >= config_.max_started) return std::nullopt;
  const absl::Time now = clock_();
  EndPausesLocked(now);
  if (!head_.has_value()) head_ = queue_.Pop([](const Requirement&) { return true; }, now);
  if (!head_.has_value()) return std::nullopt;
  const std::string& id = by_number_.at(*head_);
  if (!runner_.HasRoom(records_.at(id).request_bytes)) return std::nullopt;
  head_.reset();
  return id;
}

void JobStore::StartSome() {
  while (true) {
    std::string id;
    {
      absl::MutexLock lock(&mu_);
      std::optional<std::string> next = NextLocked();
      if (!next.has_value()) return;
      id = *std::move(next);
    }
    std::optional<JobRequest> request = ReadRequest(id);
    if (!request.has_value()) continue;
    {
      absl::MutexLock lock(&mu_);
      Record& record = records_[id];
      record.started = true;
      ++started_;
      SetWaitsLocked(record, false);
      record.job.clear_failure();
    }
    runner_.Start(
        id, *std::move(request), [this, id](const std::string& key) { SetKey(id, key); },
        [this, id](JobEnd end) {
          tasks_.Run([this, id, end = std::move(end)]() mutable { OnDone(id, std::move(end)); });
        });
  }
}

void JobStore::SetKey(const std::string& id, const std::string& key) {
  absl::MutexLock lock(&mu_);
  auto it = records_.find(id);
  if (it == records_.end() || HasEnded(it->second.job.state())) return;
  it->second.job.set_key(key);
  by_key_[key].insert(id);
}

void JobStore::RemoveRequest(const std::string& id, bool as_sent) {
  journal_.Remove(RequestName(id, as_sent)).IgnoreError();
}

std::optional<JobRequest> JobStore::ReadRequest(const std::string& id) {
  bool as_sent;
  {
    absl::MutexLock lock(&mu_);
    as_sent = records_[id].as_sent;
  }
  absl::StatusOr<std::string> bytes = journal_.Get(RequestName(id, as_sent));
  if (!bytes.ok() && !absl::IsNotFound(bytes.status()) && !absl::IsDataLoss(bytes.status())) {
    absl::MutexLock lock(&mu_);
    delayed_.emplace(clock_() + kReadAgain, id);
    return std::nullopt;
  }
  if (bytes.ok()) {
    if (std::optional<JobRequest> request = Decode(*bytes, as_sent)) return request;
  }
  JobEnd end;
  end.status =
      absl::DataLossError(absl::StrCat("the job's request cannot be read any more: ", bytes.status().message()));
  end.failure.set_code(static_cast<int>(end.status.code()));
  end.failure.set_message(std::string(end.status.message()));
  End(id, end);
  return std::nullopt;
}

void JobStore::PauseLocked(Record& record, const JobEnd& end) {
  const std::string id = record.job.id();
  record.started = false;
  --started_;
  auto named = by_key_.find(record.job.key());
  if (named != by_key_.end()) named->second.erase(id);
  record.job.set_state(v1::JOB_STATE_QUEUED);
  *record.job.mutable_failure() = end.failure;
  absl::Duration pause = std::max(end.retry_after, kLeastRetry);
  if (end.waits_for_worker) {
    pause = std::min(pause * (1 << std::min(record.tries_without++, kMostDoublings)), kMostRetry);
    // The job goes to the end of the line. Otherwise jobs without workers could take all starts from the others.
    by_number_.erase(record.number);
    record.number = next_number_++;
    by_number_[record.number] = id;
  } else {
    record.tries_without = 0;
  }
  SetWaitsLocked(record, end.waits_for_worker);
  delayed_.emplace(clock_() + pause, id);
}

void JobStore::OnDone(const std::string& id, JobEnd end) {
  bool again = false;
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    if (closed_) return;
    auto it = records_.find(id);
    if (it == records_.end() || HasEnded(it->second.job.state())) return;
    if (end.retry_after > absl::ZeroDuration() && !it->second.cancelled) {
      again = true;
      PauseLocked(it->second, end);
      NotifyLocked(it->second, &calls);
    }
  }
  Run(calls);
  if (!again) End(id, end);
  StartSome();
}

void JobStore::End(const std::string& id, const JobEnd& end) {
  v1::Job job;
  bool as_sent;
  {
    absl::MutexLock lock(&mu_);
    auto it = records_.find(id);
    if (closed_ || it == records_.end() || HasEnded(it->second.job.state())) return;
    job = it->second.job;
    as_sent = it->second.as_sent;
  }
  job.clear_failure();  // Why it waited.
  *job.mutable_finished() = ToProto(wall_clock_());
  if (end.status.ok()) {
    job.set_state(v1::JOB_STATE_SUCCEEDED);
    job.set_key(end.response.key());
    *job.mutable_response() = end.response;
  } else if (absl::IsCancelled(end.status)) {
    job.set_state(v1::JOB_STATE_CANCELLED);
  } else {
    job.set_state(v1::JOB_STATE_FAILED);
    *job.mutable_failure() = end.failure;
  }
  // A job whose end cannot be written runs again after a restart, and finds its result in the cache.
  if (Write(job).ok()) RemoveRequest(id, as_sent);
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    Record& record = records_[id];
    auto named = by_key_.find(record.job.key());
    if (named != by_key_.end()) {
      named->second.erase(id);
      if (named->second.empty()) by_key_.erase(named);
    }
    --open_;
    auto own = open_of_.find(record.job.tenant());
    if (--own->second == 0) open_of_.erase(own);
    queue_.Remove(record.number);
    if (head_ == record.number) head_.reset();
    by_number_.erase(record.number);
    if (record.started) --started_;
    record.started = false;
    SetWaitsLocked(record, false);
    record.job = std::move(job);
    ended_.push_back(id);
    NotifyLocked(record, &calls);
    record.watches.clear();
  }
  Run(calls);
}

void JobStore::ForgetOld() {
  while (true) {
    std::string id;
    bool as_sent;
    {
      absl::MutexLock lock(&mu_);
      if (closed_ || ended_.empty()) return;
      const v1::Job& oldest = records_[ended_.front()].job;
      if (ended_.size() <= config_.max_ended && FromProto(oldest.finished()) + config_.keep_ended > wall_clock_())
        return;
      id = ended_.front();
      ended_.pop_front();
      auto known = by_idempotency_key_.find({oldest.tenant(), oldest.idempotency_key()});
      if (known != by_idempotency_key_.end() && known->second == id) by_idempotency_key_.erase(known);
      as_sent = records_[id].as_sent;
      records_.erase(id);
    }
    RemoveRequest(id, as_sent);
    journal_.Remove(absl::StrCat(kJobPrefix, id)).IgnoreError();
  }
}

void JobStore::Tick() {
  bool due;
  {
    absl::MutexLock lock(&mu_);
    const absl::Time now = clock_();
    const bool waiting =
        head_.has_value() || queue_.size() > 0 || (!delayed_.empty() && delayed_.begin()->first <= now);
    due = !closed_ && ((waiting && started_ < config_.max_started) ||
                       (!ended_.empty() &&
                        (ended_.size() > config_.max_ended ||
                         FromProto(records_[ended_.front()].job.finished()) + config_.keep_ended <= wall_clock_())));
  }
  if (!due) return;
  tasks_.Run([this] {
    ForgetOld();
    StartSome();
  });
}

void JobStore::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

size_t JobStore::open() const {
  absl::MutexLock lock(&mu_);
  return open_;
}

}  // namespace tritond::server
