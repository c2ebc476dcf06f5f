// SPDX-License-Identifier: Apache-2.0
// triton-client workers: who compiles for the daemon.
#include <memory>

#include "absl/strings/str_format.h"
#include "client/cli/commands.h"
#include "client/cli/each_server.h"
#include "client/cli/message_json.h"
#include "client/cli/report.h"

namespace tritond::client {
namespace {

const char* StateName(v1::Worker::State state) {
  switch (state) {
    case v1::Worker::STATE_STARTING:
      return "starting";
    case v1::Worker::STATE_IDLE:
      return "idle";
    case v1::Worker::STATE_BUSY:
      return "busy";
    case v1::Worker::STATE_DRAINING:
      return "draining";
    case v1::Worker::STATE_BACKING_OFF:
      return "backing off";
    default:
      return "unknown";
  }
}

absl::Status Print(const Session& session, bool json, Client& client, const std::string& address) {
  const auto workers = client.ListWorkers(session.Deadline());
  if (!workers.ok()) return workers.status();
  std::ostream& out = session.console.out;
  if (json) {
    out << WithServer(session, address, MessageJson(*workers)) << std::endl;
    return absl::OkStatus();
  }
  if (HasSeveralServers(session)) out << address << "\n";
  out << absl::StrFormat("%-24s %-12s %8s %10s %8s %7s %-12s  %s\n", "worker", "state", "pid", "memory", "jobs",
                         "deaths", "confined by", "targets and devices");
  for (const v1::Worker& worker : workers->workers()) {
    std::string offers;
    for (const auto& target : worker.targets()) offers += target.name() + " ";
    for (const auto& device : worker.devices()) {
      offers +=
          device.name() + " (" + (device.lost().empty() ? device.model() : "out of service: " + device.lost()) + ") ";
    }
    const bool attached = !worker.id().empty();
    // A device worker runs kernels, and compiles nothing.
    const bool compiles = attached && worker.devices().empty();
    const std::string confined = compiles && worker.confinement().empty() ? "NOTHING" : worker.confinement();
    out << absl::StrFormat("%-24s %-12s %8d %10s %8d %7d %-12s  %s\n", worker.name(), StateName(worker.state()),
                           worker.pid(), HumanBytes(worker.resident_bytes()), worker.jobs_done(), worker.deaths(),
                           confined, offers);
    if (!worker.last_death().empty()) out << "  last death: " << worker.last_death() << "\n";
  }
  out.flush();
  return absl::OkStatus();
}

int Run(const Session& session, bool json) {
  return AskEach(session, Answers::kOne,
                 [&](Client& client, const std::string& address) { return Print(session, json, client, address); });
}

}  // namespace

Command AddWorkers(CLI::App* parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = parent->add_subcommand("workers", "List the workers of the daemon");
  app->add_flag("--json", *json, "Print one JSON object");
  return {app, [json](const Session& session) { return Run(session, *json); }};
}

}  // namespace tritond::client
