// SPDX-License-Identifier: Apache-2.0
// triton-client stats: what the daemon has done since it started.
#include <memory>

#include "absl/strings/str_format.h"
#include "client/cli/commands.h"
#include "client/cli/each_server.h"
#include "client/cli/message_json.h"
#include "client/cli/report.h"

namespace tritond::client {
namespace {

struct StatsFlags {
  int recent = 10;
  bool json = false;
};

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

const char* ClassName(v1::Priority priority) {
  switch (priority) {
    case v1::PRIORITY_AUTOTUNE:
      return "autotune";
    case v1::PRIORITY_PREBUILD:
      return "prebuild";
    default:
      return "interactive";
  }
}

void PrintDaemon(const v1::GetStatsResponse& stats, std::ostream& out) {
  const absl::Duration up = absl::Now() - absl::FromUnixSeconds(stats.started().seconds());
  out << "tritond " << stats.daemon().version() << ", up " << absl::FormatDuration(absl::Ceil(up, absl::Seconds(1)))
      << (stats.draining() ? ", draining" : "") << "\n\n";
  const uint64_t answered = stats.hits() + stats.misses() + stats.joined();
  const double share = answered == 0 ? 0 : 100.0 * static_cast<double>(stats.hits()) / static_cast<double>(answered);
  out << absl::StrFormat("requests   %8d    hits     %8d  (%.1f %%)\n", stats.requests(), stats.hits(), share);
  out << absl::StrFormat("compiles   %8d    misses   %8d\n", stats.compiles(), stats.misses());
  out << absl::StrFormat("failures   %8d    joined   %8d\n", stats.failures(), stats.joined());
  out << absl::StrFormat("rejected   %8d    workers lost %4d    hedged %d\n", stats.rejected(), stats.workers_lost(),
                         stats.hedged());
  out << absl::StrFormat("stored     %8d results, %s    open jobs %d\n", stats.stored_results(),
                         HumanBytes(stats.stored_bytes()), stats.open_jobs());
  out << absl::StrFormat("quarantine %8d    saved    %8.1f CPU s\n", stats.quarantined(), stats.saved_cpu_seconds());
}

void PrintTunings(const v1::ProgramTuningStats& tunings, std::ostream& out) {
  out << absl::StrFormat("tunings    %8d stored, %d shared, %d measured    measuring %d, waiting %d\n",
                         tunings.stored(), tunings.shared(), tunings.measured(), tunings.measuring(),
                         tunings.waiting());
}

void PrintQueues(const v1::GetStatsResponse& stats, std::ostream& out) {
  out << absl::StrFormat("\n%-12s %8s %8s %12s\n", "class", "queued", "running", "oldest");
  for (const v1::QueueStats& queue : stats.queues()) {
    out << absl::StrFormat("%-12s %8d %8d %12s\n", ClassName(queue.priority()), queue.queued(), queue.running(),
                           HumanTime(ToDuration(queue.oldest_wait())));
  }
}

void PrintCluster(const v1::ClusterStats& cluster, std::ostream& out) {
  out << absl::StrFormat("\n%-12s %8d held, %d had, %d lost    without one %d\n", "leases", cluster.leases_held(),
                         cluster.leases_granted(), cluster.leases_lost(), cluster.unleased());
  out << absl::StrFormat("%-12s %8d now, %d answered\n", "follows", cluster.following(), cluster.followed());
  out << absl::StrFormat("%-12s %8d given, %d taken    not shared %d\n", "jobs", cluster.jobs_offered(),
                         cluster.jobs_taken(), cluster.publish_failures());
  out << absl::StrFormat("\n%-24s %-10s %8s %12s %10s %10s\n", "engine's node", "state", "slots", "round trip", "calls",
                         "failures");
  for (const v1::EngineNode& node : cluster.nodes()) {
    out << absl::StrFormat(
        "%-24s %-10s %8d %12s %10d %10d\n", node.address(), node.answers() ? "answers" : "left alone", node.slots(),
        node.has_latency() ? HumanTime(ToDuration(node.latency())) : "-", node.calls(), node.failures());
  }
}

void PrintTargets(const v1::GetStatsResponse& stats, std::ostream& out) {
  out << absl::StrFormat("\n%-16s %-8s %s\n", "target", "binary", "state");
  for (const auto& target : stats.daemon().targets()) {
    const char* state = target.attached() ? "ready" : "no worker";
    // After the sentence, where the worker has looked: --json has that too.
    const std::string why_not = target.why_not().substr(0, target.why_not().find(';'));
    out << absl::StrFormat("%-16s %-8s %s\n", target.name(), target.binary_format(),
                           target.binary_available() ? state : "no binary: " + why_not);
  }
}

void PrintRecent(const v1::GetStatsResponse& stats, std::ostream& out) {
  if (stats.recent().empty()) return;
  out << absl::StrFormat("\n%-32s %-12s %10s %10s %10s %10s  %s\n", "latest compiles", "target", "queued", "ran", "CPU",
                         "memory", "outcome");
  for (const v1::RecentJob& job : stats.recent()) {
    const std::string& label = job.label().empty() ? job.key().substr(0, 12) : job.label();
    const std::string ok = job.daemon().empty() ? "ok" : "ok, by " + job.daemon();
    out << absl::StrFormat("%-32.32s %-12s %10s %10s %10s %10s  %s\n", label, job.target(),
                           HumanTime(ToDuration(job.queue_time())), HumanTime(ToDuration(job.run_time())),
                           job.cpu_seconds() > 0 ? HumanTime(absl::Seconds(job.cpu_seconds())) : "-",
                           HumanPeak(job.peak_memory_bytes()), job.code() == 0 ? ok : job.message());
  }
}

absl::Status Print(const Session& session, const StatsFlags& flags, Client& client, const std::string& address) {
  const auto stats = client.GetStats(static_cast<uint32_t>(flags.recent), session.Deadline());
  if (!stats.ok()) return stats.status();
  std::ostream& out = session.console.out;
  if (flags.json) {
    out << WithServer(session, address, MessageJson(*stats)) << std::endl;
    return absl::OkStatus();
  }
  if (HasSeveralServers(session)) out << address << "\n";
  PrintDaemon(*stats, out);
  if (stats->has_program_tunings()) PrintTunings(stats->program_tunings(), out);
  PrintQueues(*stats, out);
  if (stats->has_cluster()) PrintCluster(stats->cluster(), out);
  PrintTargets(*stats, out);
  PrintRecent(*stats, out);
  out.flush();
  return absl::OkStatus();
}

int Run(const Session& session, const StatsFlags& flags) {
  return AskEach(session, Answers::kOne,
                 [&](Client& client, const std::string& address) { return Print(session, flags, client, address); });
}

}  // namespace

Command AddStats(CLI::App* parent) {
  auto flags = std::make_shared<StatsFlags>();
  CLI::App* app = parent->add_subcommand("stats", "Show the counters of the daemon since its start, and its targets");
  app->add_option("--recent", flags->recent, "Number of recent compiles to list")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_flag("--json", flags->json, "Print one JSON object");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
