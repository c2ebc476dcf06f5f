// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/turn_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "timing/steady/steady_time.h"

namespace tritond::workers {
namespace {

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

void Put(absl::Duration duration, google::protobuf::Duration* to) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(duration);
  to->set_seconds(nanoseconds / 1000000000);
  to->set_nanos(static_cast<int32_t>(nanoseconds % 1000000000));
}

absl::Status StatusOf(const v1::DeviceReply& reply) {
  return absl::Status(static_cast<absl::StatusCode>(reply.code()), reply.message());
}

}  // namespace

void TurnRunner::Forget() {
  loaded_.clear();
  groups_.clear();
  founders_.clear();
  next_group_ = 1;
}

absl::StatusOr<v1::DeviceReply> TurnRunner::Ask(const v1::DeviceCommand& command, absl::Duration within) {
  absl::StatusOr<v1::DeviceReply> reply = session_.Ask(command, within);
  if (!reply.ok()) loaded_.clear();
  return reply;
}

absl::Status TurnRunner::Prepare(const v1::MeasureJob& job) {
  loaded_.clear();
  v1::DeviceCommand command;
  *command.mutable_prepare() = job.launch();
  const absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.load);
  return reply.ok() ? StatusOf(*reply) : reply.status();
}

absl::Status TurnRunner::MakeReady(const v1::MeasureJob& job) {
  const bool same = job.tuning() == tuning_;
  if (session_.is_open() && same) return absl::OkStatus();
  if (!same) Forget();
  tuning_ = "";
  const absl::Status opened = session_.Open().status();
  lost_ = !opened.ok();
  if (!opened.ok()) return opened;
  if (absl::Status prepared = Prepare(job); !prepared.ok()) return prepared;
  tuning_ = job.tuning();
  for (const auto& [founder, number] : founders_) {
    v1::MeasureOutcome::Candidate ignored;
    absl::Status again = Load(founder, &ignored);
    if (!again.ok()) return again;
    v1::DeviceCommand command;
    command.set_check(founder.index());
    const absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.launch);
    if (reply.ok() && reply->code() == 0) continue;
    tuning_ = "";  // The next job begins anew.
    return absl::AbortedError(absl::StrCat("candidate ", founder.index(), " ran before, and fails now"));
  }
  return absl::OkStatus();
}

absl::Status TurnRunner::Load(const Candidate& candidate, v1::MeasureOutcome::Candidate* report) {
  if (loaded_.count(candidate.index()) > 0) return absl::OkStatus();
  v1::DeviceCommand command;
  *command.mutable_load() = candidate;
  const absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.load);
  if (!reply.ok()) return reply.status();
  if (reply->code() != 0) return StatusOf(*reply);
  *report->mutable_facts() = reply->facts();
  loaded_.insert(candidate.index());
  return absl::OkStatus();
}

uint32_t TurnRunner::GroupOf(const Candidate& candidate, uint32_t in_process) {
  // The process counts its groups from 1, and has those of the founders first.
  if (in_process <= founders_.size()) return founders_[in_process - 1].second;
  if (founders_.size() + 1 == in_process && founders_.size() < 8) founders_.emplace_back(candidate, next_group_);
  return next_group_++;
}

absl::Status TurnRunner::Check(const Candidate& candidate, v1::MeasureOutcome::Candidate* report) {
  const auto known = groups_.find(candidate.index());
  if (known != groups_.end()) {
    report->set_output_group(known->second);
    return absl::OkStatus();
  }
  v1::DeviceCommand command;
  command.set_check(candidate.index());
  const absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.launch);
  if (!reply.ok()) return reply.status();
  report->set_wrong(reply->wrong());
  if (reply->code() != 0) {
    // What a failed launch leaves of a context nobody knows.
    if (!reply->wrong()) session_.End();
    return StatusOf(*reply);
  }
  const uint32_t group = GroupOf(candidate, reply->output_group());
  groups_[candidate.index()] = group;
  report->set_output_group(group);
  return absl::OkStatus();
}

absl::Status TurnRunner::Time(const v1::MeasureJob& job, const Candidate& candidate, v1::MeasureOutcome::Visit* visit) {
  v1::DeviceCommand command;
  v1::DeviceCommand::Time& time = *command.mutable_time();
  time.set_index(candidate.index());
  time.set_warmup(job.warmup());
  time.set_samples(job.samples());
  time.set_flush_l2(job.flush_l2());
  time.set_stop_above_us(job.stop_above_us());
  const absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.launch);
  if (!reply.ok()) return reply.status();
  if (reply->code() != 0) {
    session_.End();
    return StatusOf(*reply);
  }
  *visit->mutable_samples_us() = reply->samples_us();
  return absl::OkStatus();
}

absl::Status TurnRunner::Visit(const v1::MeasureJob& job, const Candidate& candidate,
                               v1::MeasureOutcome::Candidate* report, v1::MeasureOutcome::Visit* visit) {
  absl::Status status = Load(candidate, report);
  if (job.rounds() == 0) return status;
  if (status.ok()) status = Check(candidate, report);
  if (status.ok()) status = Time(job, candidate, visit);
  return status;
}

v1::MeasureOutcome TurnRunner::Run(const v1::MeasureJob& job) {
  const absl::Time start = timing::SteadyNow();
  const absl::Duration budget = job.has_budget() ? FromProto(job.budget()) : absl::InfiniteDuration();
  v1::MeasureOutcome outcome;
  for (const Candidate& candidate : job.candidates()) outcome.add_candidates()->set_index(candidate.index());
  const int rounds = std::max<int>(1, static_cast<int>(job.rounds()));
  const int size = job.candidates_size();
  for (int step = 0; step < rounds * size; ++step) {
    if (timing::SteadyNow() - start >= budget) break;
    const int round = step / size;
    const int place = round % 2 == 0 ? step % size : size - 1 - step % size;
    v1::MeasureOutcome::Candidate& report = *outcome.mutable_candidates(place);
    if (report.code() != 0) continue;
    if (const absl::Status ready = MakeReady(job); !ready.ok()) {
      outcome.set_code(static_cast<int>(ready.code()));
      outcome.set_message(std::string(ready.message()));
      outcome.set_device_lost(lost_);
      break;
    }
    v1::MeasureOutcome::Visit visit;
    visit.set_index(job.candidates(place).index());
    visit.set_round(round);
    const absl::Status status = Visit(job, job.candidates(place), &report, &visit);
    report.set_code(static_cast<int>(status.code()));
    report.set_message(std::string(status.message()));
    if (job.rounds() > 0) *outcome.add_visits() = std::move(visit);
  }
  if (job.rounds() > 0 && session_.is_open()) {
    v1::DeviceCommand command;
    command.set_tell_state(true);
    // A session that ends here is opened again by the next job.
    if (absl::StatusOr<v1::DeviceReply> reply = Ask(command, limits_.launch); reply.ok())
      *outcome.mutable_state() = reply->state();
  }
  Put(timing::SteadyNow() - start, outcome.mutable_busy());
  return outcome;
}

}  // namespace tritond::workers
