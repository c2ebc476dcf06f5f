// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_desk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/admission/worker_wait.h"
#include "server/errors/error_details.h"
#include "server/errors/parse_digest.h"
#include "server/tunings/tuning_request.h"

namespace tritond::server {
namespace {

constexpr char kFormat[] = "tuning";

// How long a caller's departure goes unnoticed.
constexpr absl::Duration kLook = absl::Milliseconds(50);

v1::AutotuneResponse LastEvent(v1::CacheStatus cache, v1::Tuning tuning) {
  v1::AutotuneResponse last;
  last.set_cache(cache);
  *last.mutable_tuning() = std::move(tuning);
  return last;
}

v1::AutotuneResponse WaitEvent(const std::string& why) {
  v1::AutotuneResponse event;
  event.set_waiting(why);
  return event;
}

// The followers of a tuning, for its thread.
class Followers final : public WaitingCaller {
 public:
  Followers(const std::atomic<bool>& stopped, TuningProgress& progress) : stopped_(stopped), progress_(progress) {}
  bool IsGone() override { return stopped_ || !progress_.IsFollowed(); }
  void OnWait(const std::string& why) override { progress_.Say(WaitEvent(why)); }

 private:
  const std::atomic<bool>& stopped_;
  TuningProgress& progress_;
};

// A caller who is gone also when the daemon stops.
class StoppableCaller final : public WaitingCaller {
 public:
  StoppableCaller(const std::atomic<bool>& stopped, WaitingCaller& caller) : stopped_(stopped), caller_(caller) {}
  bool IsGone() override { return stopped_ || caller_.IsGone(); }
  void OnWait(const std::string& why) override { caller_.OnWait(why); }

 private:
  const std::atomic<bool>& stopped_;
  WaitingCaller& caller_;
};

// The keys of the kernels. Where no worker of the target has ever told its build, there are none before one attaches.
absl::StatusOr<std::vector<std::string>> KeysOf(CompileBroker& broker,
                                                const std::vector<proto::PreparedRequest>& kernels,
                                                WaitingCaller& caller) {
  const std::string& target = kernels[0].message().target();
  if (broker.KeyOf(kernels[0]).empty()) {
    const absl::StatusOr<WorkerWait::Arrival> arrival = AwaitWorker(broker.targets(), target, caller);
    if (!arrival.ok()) return arrival.status();
    if (broker.KeyOf(kernels[0]).empty())
      return WithReason(absl::UnavailableError(absl::StrCat("no worker compiles for ", target)), Reason::kNoWorker,
                        absl::Seconds(5));
  }
  std::vector<std::string> keys;
  for (const proto::PreparedRequest& kernel : kernels) keys.push_back(broker.KeyOf(kernel));
  return keys;
}

}  // namespace

void TuningProgress::Say(v1::AutotuneResponse event) {
  absl::MutexLock lock(&mu_);
  events_.push_back(std::move(event));
}

void TuningProgress::End(absl::Status status) {
  absl::MutexLock lock(&mu_);
  end_ = std::move(status);
}

std::optional<v1::AutotuneResponse> TuningProgress::Await(size_t number, absl::Duration within) {
  absl::MutexLock lock(&mu_);
  auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return events_.size() > number || end_.has_value(); };
  mu_.AwaitWithTimeout(absl::Condition(&there), within);
  if (events_.size() <= number) return std::nullopt;
  return events_[number];
}

std::optional<absl::Status> TuningProgress::Ended() const {
  absl::MutexLock lock(&mu_);
  return end_;
}

std::vector<v1::CandidateReport> TuningProgress::Reports(std::optional<uint32_t>* winner) const {
  std::map<uint32_t, const v1::CandidateReport*> latest;
  absl::MutexLock lock(&mu_);
  for (const v1::AutotuneResponse& event : events_) {
    if (event.has_candidate()) latest[event.candidate().index()] = &event.candidate();
    if (event.has_tuning()) *winner = event.tuning().winner();
  }
  std::vector<v1::CandidateReport> reports;
  for (const auto& [index, report] : latest) reports.push_back(*report);
  return reports;
}

void TuningProgress::Follow() {
  absl::MutexLock lock(&mu_);
  ++followers_;
}

void TuningProgress::Leave() {
  absl::MutexLock lock(&mu_);
  --followers_;
}

bool TuningProgress::IsFollowed() const {
  absl::MutexLock lock(&mu_);
  return followers_ > 0;
}

absl::StatusOr<v1::Tuning> TuningDesk::Find(const std::string& key) {
  if (absl::Status status = ParseDigest("key", key).status(); !status.ok()) return status;
  const auto missing = [&] { return absl::NotFoundError(absl::StrCat("no tuning is stored under ", key)); };
  absl::StatusOr<std::shared_ptr<const StoredResult>> stored = broker_.FindStored(key);
  if (absl::IsNotFound(stored.status())) return missing();
  if (!stored.ok()) return stored.status();
  const v1::ActionResult& action = (*stored)->action;
  if (action.artifacts_size() != 1 || action.artifacts(0).format() != kFormat) return missing();
  cache::Blob bytes = (*stored)->artifacts[0];
  if (bytes.size() != action.artifacts(0).size_bytes()) {
    const absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(action.artifacts(0).digest());
    absl::StatusOr<cache::Blob> found = digest.ok() ? broker_.blobs().Get(*digest) : digest.status();
    if (!found.ok()) return missing();
    bytes = *std::move(found);
  }
  v1::Tuning tuning;
  if (!tuning.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || tuning.key() != key) return missing();
  return tuning;
}

void TuningDesk::Sweep() {
  for (auto it = running_.begin(); it != running_.end();) {
    if (!it->over) {
      ++it;
      continue;
    }
    it->thread.join();  // It has nothing more to do.
    it = running_.erase(it);
  }
}

absl::StatusOr<std::vector<proto::PreparedRequest>> TuningDesk::ReadCandidates(v1::AutotuneRequest* request,
                                                                               const std::string& target,
                                                                               WaitingCaller& caller) {
  absl::StatusOr<std::vector<proto::PreparedRequest>> kernels = absl::CancelledError("the caller has gone");
  absl::Notification read;
  const TextPool::Ticket ticket = broker_.texts().Run(
      absl::StrCat("tunings of tenant:", request->tenant()), request->ByteSizeLong(), [&](const absl::Status& status) {
        if (status.ok()) {
          kernels = PrepareCandidates(request, target, broker_.config().limits);
        } else {
          kernels = status;
        }
        read.Notify();
      });
  while (!read.WaitForNotificationWithTimeout(kLook)) {
    if (caller.IsGone() && broker_.texts().Drop(ticket)) break;
  }
  return kernels;
}

absl::StatusOr<std::shared_ptr<TuningProgress>> TuningDesk::Begin(v1::AutotuneRequest request, WaitingCaller& waiting,
                                                                  bool* joined) {
  StoppableCaller caller(stopped_, waiting);
  if (absl::Status status = CheckTuningRequest(request); !status.ok()) return status;
  std::optional<ByteBudget::Hold> memory = broker_.budget().Take(request.ByteSizeLong());
  if (!memory.has_value()) return broker_.MemoryFull();
  absl::StatusOr<DeviceDesk::Choice> device = broker_.devices().Choose(request.device());
  if (!device.ok()) return device.status();
  absl::StatusOr<std::vector<proto::PreparedRequest>> kernels =
      ReadCandidates(&request, device->device.target(), caller);
  if (!kernels.ok()) return kernels.status();
  absl::StatusOr<std::vector<std::string>> keys = KeysOf(broker_, *kernels, caller);
  if (!keys.ok()) return keys.status();
  const std::string key = TuningKey(request, *keys, device->device);

  auto progress = std::make_shared<TuningProgress>();
  progress->Follow();
  if (request.cache_mode() != v1::CACHE_MODE_REFRESH) {
    if (absl::StatusOr<v1::Tuning> stored = Find(key); stored.ok()) {
      progress->Say(LastEvent(v1::CACHE_STATUS_HIT, *std::move(stored)));
      progress->End(absl::OkStatus());
      return progress;
    }
  }
  absl::MutexLock lock(&mu_);
  Sweep();
  if (stopped_) return WithReason(absl::UnavailableError("the daemon shuts down"), Reason::kDraining);
  for (Running& running : running_) {
    if (running.key != key || running.progress->Ended().has_value() || !running.progress->IsFollowed()) continue;
    running.progress->Follow();
    *joined = true;
    return running.progress;
  }
  if (running_.size() >= kMostTunings) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(kMostTunings, " tunings are under way already")),
                      Reason::kTuningsFull, absl::Seconds(10));
  }
  Running& running = running_.emplace_back();
  running.key = key;
  running.progress = progress;
  latest_.push_front({{key,
                       request.label(),
                       request.tenant(),
                       absl::StrCat(device->device.name(), " ", device->device.model()),
                       broker_.Now(),
                       std::nullopt,
                       std::nullopt,
                       {}},
                      progress});
  if (latest_.size() > kLatest) latest_.pop_back();
  // Shared because a lambda that holds it is to be const.
  auto task = std::make_shared<TuningRun::Task>(
      TuningRun::Task{key, std::move(request), *std::move(kernels), *std::move(device), *std::move(memory)});
  running.thread = std::thread([this, task, progress, slot = &running] {
    const absl::Status end = Tune(std::move(*task), *progress);
    const bool cut_short = stopped_ && !end.ok();
    progress->End(cut_short ? WithReason(absl::UnavailableError("the daemon shuts down"), Reason::kDraining) : end);
    absl::MutexLock done(&mu_);
    slot->over = true;
  });
  return progress;
}

absl::Status TuningDesk::Tune(TuningRun::Task task, TuningProgress& progress) {
  const std::string key = task.key, target = task.device.device.target();
  bool anew = task.request.cache_mode() == v1::CACHE_MODE_REFRESH;
  const std::unique_ptr<ClusterTurn> turn = broker_.TurnFor(key);
  Followers followers(stopped_, progress);
  while (turn != nullptr) {
    const absl::StatusOr<ClusterTurn::State> state = turn->Await(anew, followers);
    if (!state.ok()) return state.status();
    if (*state == ClusterTurn::State::kMine) break;
    if (absl::StatusOr<v1::Tuning> made = Find(key); made.ok()) {
      progress.Say(LastEvent(v1::CACHE_STATUS_JOINED, *std::move(made)));
      return absl::OkStatus();
    }
    anew = true;  // What the cluster has cannot be read here.
  }
  absl::StatusOr<v1::Tuning> tuning = Measure(std::move(task), progress, followers);
  if (!tuning.ok()) return tuning.status();
  // Who waits has it all the same.
  if (!Keep(*tuning, target, turn.get()).ok()) broker_.metrics().store_failures.Increment();
  progress.Say(LastEvent(v1::CACHE_STATUS_MISS, *std::move(tuning)));
  return absl::OkStatus();
}

absl::StatusOr<v1::Tuning> TuningDesk::Measure(TuningRun::Task task, TuningProgress& progress, WaitingCaller& caller) {
  TuningRun run(
      broker_, std::move(task),
      [&](const v1::CandidateReport& report) {
        v1::AutotuneResponse event;
        *event.mutable_candidate() = report;
        progress.Say(std::move(event));
      },
      caller);
  return run.Run();
}

absl::Status TuningDesk::Keep(const v1::Tuning& tuning, const std::string& target, ClusterTurn* turn) {
  const std::string bytes = tuning.SerializeAsString();
  FreshResult fresh;
  v1::Artifact& artifact = *fresh.action.add_artifacts();
  artifact.set_format(kFormat);
  artifact.set_digest(cache::Digest::Of(bytes).ToHex());
  artifact.set_size_bytes(bytes.size());
  fresh.action.set_target(target);
  fresh.action.set_worker(tuning.worker());
  *fresh.action.mutable_created() = tuning.created();
  fresh.action.set_cost_cpu_seconds(tuning.device_seconds());
  fresh.artifacts.emplace_back(bytes);
  absl::Status kept;
  const absl::StatusOr<std::shared_ptr<const StoredResult>> stored =
      broker_.store().Keep(tuning.key(), std::move(fresh), &kept);
  if (!stored.ok()) return stored.status();
  if (turn != nullptr) broker_.ShareNow(*turn, **stored);
  return kept;
}

std::vector<TuningGlimpse> TuningDesk::Latest() const {
  absl::MutexLock lock(&mu_);
  std::vector<TuningGlimpse> glimpses;
  for (const Seen& seen : latest_) {
    TuningGlimpse& glimpse = glimpses.emplace_back(seen.glimpse);
    glimpse.end = seen.progress->Ended();
    glimpse.candidates = seen.progress->Reports(&glimpse.winner);
  }
  return glimpses;
}

void TuningDesk::Stop() {
  stopped_ = true;
  absl::MutexLock lock(&mu_);
  auto all_over = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return std::all_of(running_.begin(), running_.end(), [](const Running& running) { return running.over; });
  };
  mu_.Await(absl::Condition(&all_over));
  Sweep();
}

}  // namespace tritond::server
