// SPDX-License-Identifier: Apache-2.0
#include "client/cli/run_spec.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/parse_json.h"
#include "client/cli/session.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

absl::Status ReadText(const json& spec, const char* name, std::string* to) {
  if (!spec.contains(name)) return absl::OkStatus();
  if (!spec[name].is_string()) return absl::InvalidArgumentError(absl::StrCat("\"", name, "\": expected text"));
  *to = spec[name].get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadCode(const json& spec, const fs::path& folder, RunSpec* to) {
  std::string kernel, binary, metadata;
  absl::Status status = ReadText(spec, "kernel", &kernel);
  status.Update(ReadText(spec, "binary", &binary));
  status.Update(ReadText(spec, "metadata", &metadata));
  if (!status.ok()) return status;
  if (kernel.empty() == binary.empty() || binary.empty() != metadata.empty()) {
    return absl::InvalidArgumentError("expected either \"kernel\" or both \"binary\" and \"metadata\"");
  }
  to->kernel.name = KernelName(kernel.empty() ? binary : kernel);
  if (!kernel.empty()) {
    to->kernel.path = (folder / kernel).string();
    auto options = ParseOptionsEntry(spec.value("options", json()), folder);
    if (!options.ok()) return options.status();
    to->kernel.options = *std::move(options);
    return ReadText(spec, "target", &to->kernel.target);
  }
  auto bytes = ReadFile((folder / binary).string());
  if (!bytes.ok()) return bytes.status();
  auto text = ReadFile((folder / metadata).string());
  if (!text.ok()) return text.status();
  to->binary = *std::move(bytes);
  to->metadata = *std::move(text);
  return absl::OkStatus();
}

absl::StatusOr<RunSpec> ParseRunSpec(const json& spec, const fs::path& folder) {
  static const std::set<std::string> kKnown = {"kernel", "options", "target", "binary", "metadata",
                                               "device", "grid",    "args",   "name"};
  for (const auto& [name, value] : spec.items()) {
    if (kKnown.count(name) == 0) return absl::InvalidArgumentError(absl::StrCat("unknown entry \"", name, "\""));
  }
  RunSpec made;
  made.device = "host:0";
  if (absl::Status status = ReadCode(spec, folder, &made); !status.ok()) return status;
  if (absl::Status status = ReadText(spec, "name", &made.kernel.name); !status.ok()) return status;
  if (absl::Status status = ReadText(spec, "device", &made.device); !status.ok()) return status;
  auto grid = ParseGrid(spec.value("grid", json()));
  if (!grid.ok()) return grid.status();
  made.grid = *std::move(grid);
  auto arguments = ParseArguments(spec.value("args", json()), folder);
  if (!arguments.ok()) return arguments.status();
  made.arguments = *std::move(arguments);
  return made;
}

}  // namespace

absl::StatusOr<RunSpec> ReadRunSpec(const std::string& path) {
  const auto fail = [&](absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why)); };
  auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  const json spec = ParseJson(*text);
  if (!spec.is_object()) return fail("expected a JSON object");
  auto made = ParseRunSpec(spec, fs::path(path).parent_path());
  if (!made.ok()) return fail(made.status().message());
  return made;
}

}  // namespace tritond::client
