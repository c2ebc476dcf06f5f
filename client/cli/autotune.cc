// SPDX-License-Identifier: Apache-2.0
// triton-client autotune: which of several candidates is fastest on a device of the cluster.
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cc/status.h"
#include "client/cli/autotune_spec.h"
#include "client/cli/commands.h"
#include "client/cli/report.h"
#include "client/cli/stage_names.h"

namespace tritond::client {
namespace {

struct AutotuneFlags {
  std::string spec;
  bool no_cache = false;
  bool json = false;
};

std::string CandidateLine(const v1::CandidateReport& report) {
  switch (report.state()) {
    case v1::CandidateReport::STATE_TIMED:
      return absl::StrFormat("%-32s %10.2f us  ± %.2f", report.name(), report.median_us(), report.spread_us());
    case v1::CandidateReport::STATE_COMPILED:
      return absl::StrFormat("%-32s compiled", report.name());
    case v1::CandidateReport::STATE_REJECTED:
      return absl::StrFormat("%-32s cannot run here: %s", report.name(), report.reason());
    case v1::CandidateReport::STATE_WRONG:
      return absl::StrFormat("%-32s wrong outputs: %s", report.name(), report.reason());
    case v1::CandidateReport::STATE_SKIPPED:
      return absl::StrFormat("%-32s skipped: %s", report.name(), report.reason());
    default:
      return absl::StrFormat("%-32s failed: %s", report.name(), report.reason());
  }
}

int Run(const Session& session, const AutotuneFlags& flags) {
  auto request = ReadAutotuneSpec(flags.spec);
  if (!request.ok()) return session.Usage(request.status());
  if (flags.no_cache) request->set_cache_mode(v1::CACHE_MODE_REFRESH);
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto result = (*client)->Autotune(
      *request, [&](const v1::CandidateReport& report) { session.console.err << CandidateLine(report) << std::endl; },
      session.Deadline());
  if (!result.ok()) return session.Fail(result.status());
  std::ostream& out = session.console.out;
  if (flags.json) {
    out << MessageJson(result->tuning()) << std::endl;
    return kDone;
  }
  const v1::Tuning& tuning = result->tuning();
  for (const v1::CandidateReport& report : tuning.candidates()) {
    if (report.index() == tuning.winner()) out << "winner: " << CandidateLine(report) << "\n";
  }
  out << "on " << tuning.device_model() << ", " << CacheName(result->cache()) << ", key " << tuning.key() << std::endl;
  return kDone;
}

}  // namespace

Command AddAutotune(CLI::App* parent) {
  auto flags = std::make_shared<AutotuneFlags>();
  CLI::App* app =
      parent->add_subcommand("autotune", "Time candidates on a device of the cluster, or get the stored winner");
  app->add_option("SPEC", flags->spec, "JSON: candidates, launch, device, budget (docs/api.md)")->required();
  app->add_flag("--no-cache", flags->no_cache, "Search again even when a winner is stored");
  app->add_flag("--json", flags->json, "Print the tuning as one JSON object");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
