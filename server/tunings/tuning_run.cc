// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/util/time_util.h"
#include "server/autotune/sample_statistics.h"
#include "server/errors/error_details.h"
#include "server/errors/parse_digest.h"
#include "server/tunings/tuning_request.h"

namespace tritond::server {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(100);
// Of the device, where the caller names no budget, and at most.
constexpr double kUsualSeconds = 60;
constexpr double kMostSeconds = 600;
constexpr double kMostSecondsOfTurn = 20;
// Artifacts that fills name, together.
constexpr uint64_t kMostFillBytes = uint64_t{256} << 20;

double ToSeconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + 1e-9 * duration.nanos();
}

google::protobuf::Duration FromSeconds(double seconds) {
  return google::protobuf::util::TimeUtil::MicrosecondsToDuration(static_cast<int64_t>(seconds * 1e6));
}

KernelFacts FactsOf(const v1::CompileRequest& request, const v1::KernelFacts& said) {
  KernelFacts facts = FactsOfOptions(request);
  facts.registers = said.registers();
  facts.spill_bytes = said.spill_bytes();
  facts.shared_bytes = said.shared_bytes();
  facts.programs_at_once = said.programs_at_once();
  return facts;
}

// Compiles that are under way, and answers that nobody has looked at. Shared with the calls' callbacks.
struct Compiles {
  absl::Mutex mu;
  std::deque<std::pair<size_t, absl::StatusOr<CompileAnswer>>> answers ABSL_GUARDED_BY(mu);
};

StrategyKind KindOf(v1::SearchStrategy::Kind kind) {
  switch (kind) {
    case v1::SearchStrategy::KIND_RANDOM:
      return StrategyKind::kRandom;
    case v1::SearchStrategy::KIND_SUCCESSIVE_HALVING:
      return StrategyKind::kHalving;
    case v1::SearchStrategy::KIND_MODEL_GUIDED:
      return StrategyKind::kModelGuided;
    default:
      return StrategyKind::kExhaustive;
  }
}

}  // namespace

TuningRun::TuningRun(CompileBroker& broker, Task task, Say say, WaitingCaller& caller)
    : broker_(broker),
      task_(std::move(task)),
      say_(std::move(say)),
      caller_(caller),
      entries_(task_.kernels.size()),
      agreement_([this](size_t a, size_t b) { return entries_[a].output_group == entries_[b].output_group; }) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].report.set_index(static_cast<uint32_t>(i));
    entries_[i].report.set_name(task_.request.candidates(static_cast<int>(i)).name());
    entries_[i].report.set_key(broker_.KeyOf(task_.kernels[i]));
  }
}

void TuningRun::Tell(size_t index, v1::CandidateReport::State state, const std::string& reason) {
  entries_[index].report.set_state(state);
  entries_[index].report.set_reason(reason);
  say_(entries_[index].report);
}

void TuningRun::Drop(size_t index, v1::CandidateReport::State state, const std::string& reason) {
  entries_[index].out = true;
  Tell(index, state, reason);
}

absl::StatusOr<v1::Tuning> TuningRun::Run() {
  DropImpossible();
  if (absl::Status status = CompileAll(); !status.ok()) return status;
  if (absl::Status status = ResolveDigests(); !status.ok()) return status;
  if (absl::Status status = broker_.devices().Borrow(task_.device, caller_); !status.ok()) return status;
  absl::Status status = LoadAll();
  if (status.ok()) {
    DropUnpromising();
    status = Measure();
  }
  broker_.devices().GiveBack(task_.device);
  if (!status.ok()) return status;
  return Conclude(*search_);
}

void TuningRun::DropImpossible() {
  const DeviceLimits limits = LimitsOf(task_.device.device);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const std::string why = WhyImpossible(
        FactsBeforeCompile(task_.request.candidates(static_cast<int>(i)), task_.kernels[i].message()), limits);
    if (!why.empty()) Drop(i, v1::CandidateReport::STATE_REJECTED, why);
  }
}

absl::Status TuningRun::CompileAll() {
  auto compiles = std::make_shared<Compiles>();  // Shared with callbacks, which may come after a cancellation.
  std::map<size_t, std::shared_ptr<CompileCall>> calls;
  size_t next = 0;
  const auto begin = [&](size_t index) {
    const auto answered = [compiles, index](absl::StatusOr<CompileAnswer> answer) {
      absl::MutexLock lock(&compiles->mu);
      compiles->answers.emplace_back(index, std::move(answer));
    };
    if (auto stored = broker_.TryStored(task_.kernels[index]); stored.has_value()) {
      calls[index] = nullptr;
      return answered(*std::move(stored));
    }
    calls[index] = broker_.Compile(task_.kernels[index], absl::InfiniteFuture(), answered);
  };
  while (true) {
    for (; next < entries_.size() && calls.size() < kCompilesAtOnce; ++next) {
      if (!entries_[next].out) begin(next);
    }
    if (calls.empty()) return absl::OkStatus();
    std::deque<std::pair<size_t, absl::StatusOr<CompileAnswer>>> answers;
    {
      absl::MutexLock lock(&compiles->mu);
      auto some = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(compiles->mu) { return !compiles->answers.empty(); };
      compiles->mu.AwaitWithTimeout(absl::Condition(&some), kLook);
      answers.swap(compiles->answers);
    }
    for (const auto& [index, answer] : answers) {
      calls.erase(index);
      OnCompiled(index, answer);
    }
    if (!caller_.IsGone()) continue;
    for (const auto& [index, call] : calls) {
      if (call != nullptr) call->Cancel();
    }
    return absl::CancelledError("nobody waits for the tuning any more");
  }
}

void TuningRun::OnCompiled(size_t index, const absl::StatusOr<CompileAnswer>& answer) {
  if (!answer.ok()) return Drop(index, v1::CandidateReport::STATE_FAILED, std::string(answer.status().message()));
  // Without workers a result of another build may be served, but the tuning's own key names the active build.
  if (answer->key != entries_[index].report.key())
    return Drop(index, v1::CandidateReport::STATE_FAILED, "no worker of this tuning's compiler build is attached");
  const StoredResult& result = *answer->result;
  for (int i = 0; i < result.action.artifacts_size(); ++i) {
    const v1::Artifact& artifact = result.action.artifacts(i);
    if (artifact.kind() != v1::STAGE_BINARY) continue;
    cache::Blob bytes = result.artifacts[i];
    if (bytes.size() != artifact.size_bytes()) {
      const auto digest = cache::Digest::FromHex(artifact.digest());
      if (auto found = digest.ok() ? broker_.blobs().Get(*digest) : digest.status(); found.ok()) bytes = *found;
    }
    entries_[index].binary = std::string(bytes.bytes());
  }
  entries_[index].metadata_json = result.action.metadata_json();
  if (entries_[index].binary.empty())
    return Drop(index, v1::CandidateReport::STATE_FAILED, "its compile gave no binary");
  Tell(index, v1::CandidateReport::STATE_COMPILED);
}

absl::Status TuningRun::ResolveDigests() {
  uint64_t bytes = 0;
  const auto resolve = [&](const std::string& field, v1::Fill* fill) -> absl::Status {
    if (fill->kind_case() != v1::Fill::kDigest) return absl::OkStatus();
    const absl::StatusOr<cache::Digest> digest = ParseDigest(field, fill->digest());
    if (!digest.ok()) return digest.status();
    const absl::StatusOr<cache::Blob> blob = broker_.blobs().Get(*digest);
    if (!blob.ok()) return InvalidRequest({{field, absl::StrCat("no artifact ", fill->digest(), " is stored")}});
    bytes += blob->size();
    if (bytes > kMostFillBytes)
      return InvalidRequest({{field, absl::StrCat("the contents exceed ", kMostFillBytes >> 20, " MiB together")}});
    fill->set_data(std::string(blob->bytes()));
    return absl::OkStatus();
  };
  v1::Launch& launch = *task_.request.mutable_launch();
  for (int i = 0; i < launch.arguments_size(); ++i) {
    if (!launch.arguments(i).has_buffer()) continue;
    v1::Buffer& buffer = *launch.mutable_arguments(i)->mutable_buffer();
    const std::string field = absl::StrCat("launch.arguments[", i, "].buffer.");
    absl::Status status = buffer.has_fill() ? resolve(field + "fill", buffer.mutable_fill()) : absl::OkStatus();
    if (status.ok() && buffer.has_reference()) status = resolve(field + "reference", buffer.mutable_reference());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::MeasureOutcome> TuningRun::Ask(const std::vector<size_t>& candidates, const Turn* turn) {
  v1::MeasureJob job;
  job.set_device(task_.device.device.name());
  job.set_tuning(task_.key);
  *job.mutable_launch() = task_.request.launch();
  for (size_t index : candidates) {
    v1::MeasureJob::Candidate& candidate = *job.add_candidates();
    candidate.set_index(static_cast<uint32_t>(index));
    candidate.set_binary(entries_[index].binary);
    candidate.set_metadata_json(entries_[index].metadata_json);
    *candidate.mutable_abi() = task_.kernels[index].message().abi();
    *candidate.mutable_grid() = task_.request.candidates(static_cast<int>(index)).grid();
  }
  const v1::TimingPolicy& timing = task_.request.timing();
  double seconds = kMostSecondsOfTurn;
  if (turn != nullptr) {
    job.set_rounds(turn->rounds);
    job.set_samples(turn->samples);
    job.set_warmup(timing.warmup() > 0 ? timing.warmup() : 1);
    job.set_flush_l2(timing.flush_l2());
    job.set_stop_above_us(turn->stop_above_us);
    if (turn->device_seconds > 0) seconds = std::min(seconds, turn->device_seconds);
  }
  *job.mutable_budget() = FromSeconds(seconds);
  if (caller_.IsGone()) return absl::CancelledError("nobody waits for the tuning any more");
  absl::StatusOr<v1::MeasureOutcome> outcome = broker_.devices().Measure(task_.device, std::move(job));
  if (outcome.ok() && outcome->has_state()) state_ = outcome->state();
  return outcome;
}

absl::Status TuningRun::LoadAll() {
  std::vector<size_t> some;
  for (size_t i = 0; i <= entries_.size(); ++i) {
    if (i < entries_.size() && !entries_[i].out) some.push_back(i);
    if (some.empty() || (i < entries_.size() && some.size() < kLoadsAtOnce)) continue;
    const absl::StatusOr<v1::MeasureOutcome> outcome = Ask(some, nullptr);
    if (!outcome.ok()) return outcome.status();
    for (const v1::MeasureOutcome::Candidate& candidate : outcome->candidates()) {
      if (candidate.index() >= entries_.size()) continue;
      *entries_[candidate.index()].report.mutable_facts() = candidate.facts();
      if (candidate.code() != 0) Drop(candidate.index(), v1::CandidateReport::STATE_REJECTED, candidate.message());
    }
    some.clear();
  }
  return absl::OkStatus();
}

void TuningRun::DropUnpromising() {
  const DeviceLimits limits = LimitsOf(task_.device.device);
  std::vector<KernelFacts> facts;
  std::vector<bool> dropped;
  for (size_t i = 0; i < entries_.size(); ++i) {
    facts.push_back(FactsOf(task_.kernels[i].message(), entries_[i].report.facts()));
    const std::string why = entries_[i].out ? "" : WhyImpossible(facts.back(), limits);
    if (!why.empty()) Drop(i, v1::CandidateReport::STATE_REJECTED, why);
    dropped.push_back(entries_[i].out);
  }
  const std::vector<std::string> reasons = WhyUnpromising(facts, dropped, limits, PrunePolicy());
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!reasons[i].empty()) Drop(i, v1::CandidateReport::STATE_REJECTED, reasons[i]);
  }
}

SearchConfig TuningRun::ConfigOf() const {
  const v1::SearchStrategy& strategy = task_.request.strategy();
  SearchConfig config;
  config.strategy = KindOf(strategy.kind());
  config.trials = strategy.max_candidates();
  const double budget = task_.request.has_budget() ? ToSeconds(task_.request.budget()) : 0;
  config.device_seconds = budget > 0 ? std::min(budget, kMostSeconds) : kUsualSeconds;
  if (strategy.error_level() > 0) config.error_level = strategy.error_level();
  if (strategy.indifference() > 0) config.indifference = strategy.indifference();
  if (task_.request.timing().samples() > 0) config.samples = static_cast<int>(task_.request.timing().samples());
  config.seed = strategy.seed();
  return config;
}

absl::Status TuningRun::Measure() {
  std::vector<Numbers> numbers;
  for (const Entry& entry : entries_) {
    const size_t i = entry.report.index();
    numbers.push_back(NumbersOf(entry.report.name(), task_.kernels[i].message(), entry.report.facts()));
  }
  search_ = std::make_unique<Search>(ConfigOf(), FeatureTable(numbers));
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].out) search_->Exclude(i);
  }
  while (const std::optional<Turn> turn = search_->Next()) {
    const absl::StatusOr<v1::MeasureOutcome> outcome = Ask(turn->candidates, &*turn);
    if (!outcome.ok()) return outcome.status();
    search_->Report(Digest(*outcome, search_.get()));
    Judge(/*last=*/false, search_.get());
    for (size_t index : turn->candidates) {
      Entry& entry = entries_[index];
      const std::vector<double>& samples = search_->record().SamplesOf(index);
      if (entry.out || samples.empty()) continue;
      entry.report.set_median_us(Median(samples));
      entry.report.set_spread_us(InterquartileRange(samples));
      Tell(index, v1::CandidateReport::STATE_TIMED);
    }
  }
  Judge(/*last=*/true, search_.get());
  return absl::OkStatus();
}

TurnReport TuningRun::Digest(const v1::MeasureOutcome& outcome, Search* search) {
  TurnReport report;
  report.device_seconds = ToSeconds(outcome.busy());
  for (const v1::MeasureOutcome::Visit& visit : outcome.visits()) {
    if (visit.index() >= entries_.size()) continue;
    const bool sane = std::all_of(visit.samples_us().begin(), visit.samples_us().end(),
                                  [](double sample) { return sample > 0 && sample < 1e12; });
    Visit made{visit.index(), static_cast<int>(std::min<uint32_t>(visit.round(), 1000)), {}};
    if (sane) made.samples_us.assign(visit.samples_us().begin(), visit.samples_us().end());
    report.visits.push_back(std::move(made));
  }
  for (const v1::MeasureOutcome::Candidate& candidate : outcome.candidates()) {
    if (candidate.index() >= entries_.size()) continue;
    Entry& entry = entries_[candidate.index()];
    if (candidate.code() != 0 && !entry.out) {
      search->Exclude(candidate.index());
      Drop(candidate.index(), candidate.wrong() ? v1::CandidateReport::STATE_WRONG : v1::CandidateReport::STATE_FAILED,
           candidate.message());
    } else if (candidate.output_group() > 0 && entry.output_group == 0) {
      entry.output_group = candidate.output_group();
      agreement_.Add(candidate.index());
    }
  }
  return report;
}

void TuningRun::Judge(bool last, Search* search) {
  if (agreement_.IsTied() && !last) return;
  for (size_t index : agreement_.Wrong()) {
    if (entries_[index].out) continue;
    search->Exclude(index);
    Drop(index, v1::CandidateReport::STATE_WRONG,
         absl::StrCat("its outputs are not those that ", agreement_.Right().size(), " of ",
                      agreement_.Right().size() + agreement_.Wrong().size(), " candidates agree on"));
  }
}

absl::StatusOr<v1::Tuning> TuningRun::Conclude(const Search& search) {
  const std::optional<size_t> winner = search.Winner();
  if (!winner.has_value()) {
    std::string first;
    for (const Entry& entry : entries_) {
      if (first.empty() && !entry.report.reason().empty())
        first = absl::StrCat(" (", entry.report.name(), ": ", entry.report.reason(), ")");
    }
    return WithReason(absl::NotFoundError(absl::StrCat("no candidate compiled, ran and gave right outputs", first)),
                      Reason::kNoWinner);
  }
  v1::Tuning tuning;
  tuning.set_key(task_.key);
  tuning.set_winner(static_cast<uint32_t>(*winner));
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.out && entry.report.state() != v1::CandidateReport::STATE_TIMED)
      Tell(i, v1::CandidateReport::STATE_SKIPPED, "the strategy or the budget left it out");
    for (double sample : search.record().SamplesOf(i)) entry.report.add_samples_us(sample);
    *tuning.add_candidates() = std::move(entry.report);
  }
  tuning.set_device_model(task_.device.device.model());
  tuning.set_driver(task_.device.device.driver());
  tuning.set_worker(task_.device.worker_name);
  tuning.set_device(task_.device.device.name());
  *tuning.mutable_created() = google::protobuf::util::TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(absl::Now()));
  tuning.set_clear(search.end() == SearchEnd::kClear);
  tuning.set_device_seconds(search.record().device_seconds());
  *tuning.mutable_device_state() = state_;
  return tuning;
}

}  // namespace tritond::server
