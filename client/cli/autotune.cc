// SPDX-License-Identifier: Apache-2.0
// triton-client autotune: which of several candidates is fastest on a device of the cluster.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cc/status.h"
#include "client/cli/autotune_spec.h"
#include "client/cli/commands.h"
#include "client/cli/message_json.h"
#include "client/cli/stage_names.h"
#include "client/cli/tuning_view.h"

namespace tritond::client {
namespace {

struct AutotuneFlags {
  std::string spec;
  bool no_cache = false;
  bool json = false;
};

// " at 1755 MHz, 61 °C, 512 W", as far as it is known.
std::string StateText(const v1::DeviceState& state) {
  std::vector<std::string> parts;
  if (state.clock_mhz() > 0) parts.push_back(absl::StrCat(state.clock_mhz(), " MHz"));
  if (state.temperature_celsius() > 0) parts.push_back(absl::StrCat(state.temperature_celsius(), " °C"));
  if (state.power_watts() > 0) parts.push_back(absl::StrCat(state.power_watts(), " W"));
  return parts.empty() ? "" : absl::StrCat(" at ", absl::StrJoin(parts, ", "));
}

int Run(const Session& session, const AutotuneFlags& flags) {
  auto request = ReadAutotuneSpec(flags.spec);
  if (!request.ok()) return session.Usage(request.status());
  if (flags.no_cache) request->set_cache_mode(v1::CACHE_MODE_REFRESH);
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto result = [&] {
    TuningView view(request->candidates_size(), session.console.err_is_terminal, session.console.err);
    return (*client)->Autotune(
        *request, [&](const v1::AutotuneResponse& event) { view.Show(event); }, session.Deadline());
  }();
  if (!result.ok()) return session.Fail(result.status());
  std::ostream& out = session.console.out;
  if (flags.json) {
    out << MessageJson(result->tuning()) << std::endl;
    return kDone;
  }
  const v1::Tuning& tuning = result->tuning();
  out << TuningTable(tuning);
  for (const v1::CandidateReport& report : tuning.candidates()) {
    if (report.index() == tuning.winner()) out << "winner: " << CandidateLine(report) << "\n";
  }
  if (!tuning.clear()) out << "not clear: the budget ended the search, or others are as fast within their noise\n";
  out << "on " << tuning.device_model() << StateText(tuning.device_state()) << ", " << CacheName(result->cache())
      << ", key " << tuning.key() << std::endl;
  return kDone;
}

}  // namespace

Command AddAutotune(CLI::App* parent) {
  auto flags = std::make_shared<AutotuneFlags>();
  CLI::App* app =
      parent->add_subcommand("autotune", "Measure candidates on a device of the cluster, or get the stored winner");
  app->add_option("SPEC", flags->spec, "JSON: candidates, launch, device, budget (docs/api.md)")->required();
  app->add_flag("--no-cache", flags->no_cache, "Search again even if a winner is stored");
  app->add_flag("--json", flags->json, "Print the tuning as one JSON object");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
