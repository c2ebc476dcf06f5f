// SPDX-License-Identifier: Apache-2.0
#include "client/cli/autotune_spec.h"

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/kernel_request.h"
#include "client/cli/launch_spec.h"
#include "client/cli/parse_json.h"
#include "client/cli/session.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

absl::Status AddCandidate(const nlohmann::json& entry, const fs::path& folder, const std::string& target,
                          v1::AutotuneRequest* request) {
  if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string()) {
    return absl::InvalidArgumentError("expected an object with \"file\"");
  }
  Kernel kernel;
  kernel.path = (folder / entry["file"].get<std::string>()).string();
  kernel.name = KernelName(kernel.path);
  if (entry.contains("name") && entry["name"].is_string()) kernel.name = entry["name"].get<std::string>();
  auto options = ParseOptionsEntry(entry.value("options", nlohmann::json()), folder);
  if (!options.ok()) return options.status();
  kernel.options = *std::move(options);
  kernel.target = target;
  auto compile = MakeRequest(kernel, KernelFlags());
  if (!compile.ok()) return compile.status();
  auto grid = ParseGrid(entry.value("grid", nlohmann::json()));
  if (!grid.ok()) return grid.status();
  const nlohmann::json shared = entry.value("least_shared_bytes", nlohmann::json(0u));
  if (!shared.is_number_unsigned()) return absl::InvalidArgumentError("\"least_shared_bytes\" is a number of bytes");
  v1::Candidate* candidate = request->add_candidates();
  candidate->set_name(kernel.name);
  *candidate->mutable_compile() = *std::move(compile);
  *candidate->mutable_grid() = *std::move(grid);
  candidate->set_least_shared_bytes(shared.get<uint64_t>());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::AutotuneRequest> ReadAutotuneSpec(const std::string& path) {
  const auto fail = [&](absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why)); };
  auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  nlohmann::json spec = ParseJson(*text);
  if (!spec.is_object()) return fail("expected a JSON object");
  const nlohmann::json candidates = spec.value("candidates", nlohmann::json::array());
  const nlohmann::json args = spec.value("args", nlohmann::json());
  spec.erase("candidates");
  spec.erase("args");

  v1::AutotuneRequest request;
  const auto parsed = google::protobuf::util::JsonStringToMessage(spec.dump(), &request);
  if (!parsed.ok()) return fail(std::string(parsed.message()));
  if (!args.is_null()) {
    if (request.has_launch()) return fail("\"args\" and \"launch\" exclude each other");
    const auto arguments = ParseArguments(args, fs::path(path).parent_path());
    if (!arguments.ok()) return fail(arguments.status().message());
    for (const LaunchArgument& argument : *arguments) *request.mutable_launch()->add_arguments() = argument.argument;
  }
  if (request.device().target().empty()) return fail("\"device\" must name a \"target\"");
  if (!candidates.is_array() || candidates.empty()) return fail("\"candidates\" is empty");
  for (size_t i = 0; i < candidates.size(); ++i) {
    const absl::Status added =
        AddCandidate(candidates[i], fs::path(path).parent_path(), request.device().target(), &request);
    if (!added.ok()) return fail(absl::StrCat("candidates[", i, "]: ", added.message()));
  }
  return request;
}

}  // namespace tritond::client
