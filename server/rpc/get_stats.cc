// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <cstdint>

#include "google/protobuf/util/time_util.h"
#include "server/compile/stage_name.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

using google::protobuf::util::TimeUtil;

google::protobuf::Duration ToProto(absl::Duration duration) {
  return TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(duration));
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  return TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

uint64_t Count(const prometheus::Counter& counter) { return static_cast<uint64_t>(counter.Value()); }

void FillRecent(const JobRecord& record, absl::Time now, v1::RecentJob* out) {
  const FinishedJob& job = record.job;
  out->set_id(job.id);
  out->set_key(job.key);
  out->set_label(job.label);
  out->set_target(job.target);
  out->set_tenant(job.tenant);
  out->set_worker(job.worker);
  out->set_code(static_cast<int>(job.status.code()));
  out->set_message(std::string(job.status.message()));
  *out->mutable_queue_time() = ToProto(job.queue_time);
  *out->mutable_run_time() = ToProto(job.run_time);
  *out->mutable_finished() = ToProto(timing::ToWallTime(job.finished, now));
  out->set_cpu_seconds(record.cpu_seconds);
  out->set_peak_memory_bytes(record.peak_memory_bytes);
  out->set_daemon(record.followed);
  for (const JobRecord::Stage& stage : record.stages) {
    v1::StageTime& time = *out->add_stage_times();
    time.set_stage(StageOfName(stage.name));
    time.set_wall_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(stage.wall)));
  }
}

void FillNode(const cache::EngineNode& node, v1::EngineNode* out) {
  out->set_address(node.address);
  out->set_answers(node.answers);
  out->set_slots(static_cast<uint32_t>(node.slots));
  out->set_calls(node.calls);
  out->set_failures(node.failures);
  if (node.calls > 0) *out->mutable_latency() = ToProto(node.latency);
}

void FillCluster(const ClusterLink& link, v1::ClusterStats* out) {
  const SingleFlight::Stats flights = link.flight_stats();
  const WorkSharing::Stats sharing = link.sharing_stats();
  const std::vector<cache::EngineNode> nodes = link.nodes();
  out->set_answers(cache::SomeAnswer(nodes));
  for (const cache::EngineNode& node : nodes) FillNode(node, out->add_nodes());
  out->set_leases_held(flights.held);
  out->set_leases_granted(flights.granted);
  out->set_leases_lost(flights.lost);
  out->set_following(flights.following);
  out->set_followed(flights.followed);
  out->set_unleased(flights.alone);
  out->set_jobs_offered(sharing.offered);
  out->set_jobs_taken(sharing.taken);
  out->set_publish_failures(flights.publish_failures);
}

void FillTunings(const TuningParts& tunings, v1::ProgramTuningStats* out) {
  const ProgramTuningDesk::Stats stats = tunings.desk.GetStats();
  out->set_stored(tunings.store.size());
  out->set_shared(stats.shared);
  out->set_granted(stats.granted);
  out->set_measured(stats.measured);
  out->set_lost(stats.lost);
  out->set_refused(stats.refused);
  out->set_measuring(stats.measuring);
  out->set_waiting(stats.waiting);
}

}  // namespace

grpc::ServerUnaryReactor* GetStats(CompileBroker& broker, const JobDesk& jobs, const TuningParts& tunings,
                                   const Caller& caller, grpc::CallbackServerContext* context,
                                   const v1::GetStatsRequest* request, v1::GetStatsResponse* response) {
  const Scheduler::Stats stats = broker.scheduler().GetStats();
  const Metrics& metrics = broker.metrics();
  FillDescription(broker, response->mutable_daemon());
  *response->mutable_started() = ToProto(timing::ToWallTime(broker.started(), broker.Now()));
  response->set_draining(broker.scheduler().draining());
  response->set_hits(Count(metrics.hits));
  response->set_misses(Count(metrics.misses));
  response->set_joined(Count(metrics.joined));
  response->set_error_hits(Count(metrics.error_hits));
  response->set_failures(Count(metrics.failures) + Count(metrics.refused));
  response->set_requests(response->hits() + response->misses() + response->joined() + response->error_hits() +
                         response->failures() + Count(metrics.lookup_misses));
  response->set_compiles(stats.started);
  response->set_workers_lost(Count(metrics.workers_lost));
  response->set_rejected(stats.rejected);
  response->set_hedged(stats.hedged);
  response->set_open_jobs(jobs.store.open());
  response->set_stored_results(broker.store().index().asked_for());
  response->set_stored_bytes(broker.store().index().size_bytes());
  response->set_quarantined(broker.scheduler().Quarantined().size());
  response->set_saved_cpu_seconds(metrics.saved_cpu_seconds.Value());
  for (int i = 0; i < kJobClasses; ++i) {
    v1::QueueStats& queue = *response->add_queues();
    queue.set_priority(static_cast<v1::Priority>(v1::PRIORITY_INTERACTIVE + i));
    queue.set_queued(stats.classes[i].queued);
    queue.set_running(stats.classes[i].running);
    *queue.mutable_oldest_wait() = ToProto(stats.classes[i].oldest_wait);
  }
  if (broker.cluster() != nullptr) FillCluster(*broker.cluster(), response->mutable_cluster());
  FillTunings(tunings, response->mutable_program_tunings());
  const int wanted = static_cast<int>(std::min<uint32_t>(request->recent_jobs(), INT_MAX));
  for (const auto& record : broker.activity().jobs().Latest(wanted == 0 ? 0 : SIZE_MAX)) {
    if (response->recent_size() == wanted) break;
    if (Sees(caller, record->job.tenant)) FillRecent(*record, broker.Now(), response->add_recent());
  }
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
