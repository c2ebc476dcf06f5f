// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_MEASURE_TURN_RUNNER_H_
#define WORKERS_MEASURE_TURN_RUNNER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/v1/worker.pb.h"
#include "workers/measure/device_session.h"

namespace tritond::workers {

// Does what MeasureJob asks on one device: visits candidates in turns, and checks the outputs of each before its first
// visit. A candidate that fails is visited no more in the job; the others go on in another process. Remembers from one
// job of a tuning to the next who was checked. One thread at a time.
class TurnRunner final {
 public:
  struct Limits {
    absl::Duration launch = absl::Seconds(10);  // a visit, or a checked run, that takes longer hangs
    absl::Duration load = absl::Seconds(60);    // the same for loading a kernel, and for filling the buffers
  };

  // The session outlives it.
  TurnRunner(DeviceSession& session, const Limits& limits) : session_(session), limits_(limits) {}

  void SetLimits(const Limits& limits) { limits_ = limits; }

  // Fails never as such: the outcome says what came to nothing. The lease is the caller's to set.
  v1::MeasureOutcome Run(const v1::MeasureJob& job);

 private:
  using Candidate = v1::MeasureJob::Candidate;

  // The process runs, and has this tuning's buffers and outputs. Not Ok: the job cannot go on.
  absl::Status MakeReady(const v1::MeasureJob& job);
  absl::Status Prepare(const v1::MeasureJob& job);
  // Not Ok: the candidate is to blame. Each tells `report` what it learns.
  absl::Status Load(const Candidate& candidate, v1::MeasureOutcome::Candidate* report);
  absl::Status Check(const Candidate& candidate, v1::MeasureOutcome::Candidate* report);
  absl::Status Time(const v1::MeasureJob& job, const Candidate& candidate, v1::MeasureOutcome::Visit* visit);
  // All that the job wants of a candidate at once; its error is in `report`.
  absl::Status Visit(const v1::MeasureJob& job, const Candidate& candidate, v1::MeasureOutcome::Candidate* report,
                     v1::MeasureOutcome::Visit* visit);
  absl::StatusOr<v1::DeviceReply> Ask(const v1::DeviceCommand& command, absl::Duration within);
  uint32_t GroupOf(const Candidate& candidate, uint32_t in_process);
  void Forget();

  DeviceSession& session_;
  Limits limits_;
  std::string tuning_;
  bool lost_ = false;                    // the last process did not open
  std::set<uint32_t> loaded_;            // in the process
  std::map<uint32_t, uint32_t> groups_;  // of those that were checked
  // The first of each group that the process keeps outputs of, with its number. A new process checks them first, so
  // that it has the same groups.
  std::vector<std::pair<Candidate, uint32_t>> founders_;
  uint32_t next_group_ = 1;
};

}  // namespace tritond::workers

#endif  // WORKERS_MEASURE_TURN_RUNNER_H_
