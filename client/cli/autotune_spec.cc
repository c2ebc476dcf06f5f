// SPDX-License-Identifier: Apache-2.0
#include "client/cli/autotune_spec.h"

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/compile_options.h"
#include "client/cli/kernel_request.h"
#include "client/cli/session.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<nlohmann::json> CandidateOptions(const nlohmann::json& entry, const fs::path& folder) {
  if (!entry.contains("options")) return nlohmann::json::object();
  if (!entry["options"].is_string()) return ParseOptionsFile(entry["options"].dump());
  auto text = ReadFile((folder / entry["options"].get<std::string>()).string());
  if (!text.ok()) return text.status();
  return ParseOptionsFile(*text);
}

// [x], [x, y] or [x, y, z].
absl::Status SetGrid(const nlohmann::json& entry, v1::Grid* grid) {
  const nlohmann::json sizes = entry.value("grid", nlohmann::json());
  uint32_t size[3] = {1, 1, 1};
  if (!sizes.is_array() || sizes.empty() || sizes.size() > 3) {
    return absl::InvalidArgumentError("\"grid\": expected one to three numbers");
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_number_unsigned()) return absl::InvalidArgumentError("\"grid\": expected positive integers");
    size[i] = sizes[i].get<uint32_t>();
  }
  grid->set_x(size[0]);
  grid->set_y(size[1]);
  grid->set_z(size[2]);
  return absl::OkStatus();
}

absl::Status AddCandidate(const nlohmann::json& entry, const fs::path& folder, const std::string& target,
                          v1::AutotuneRequest* request) {
  if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string()) {
    return absl::InvalidArgumentError("expected an object with \"file\"");
  }
  Kernel kernel;
  kernel.path = (folder / entry["file"].get<std::string>()).string();
  kernel.name = KernelName(kernel.path);
  if (entry.contains("name") && entry["name"].is_string()) kernel.name = entry["name"].get<std::string>();
  auto options = CandidateOptions(entry, folder);
  if (!options.ok()) return options.status();
  kernel.options = *std::move(options);
  kernel.target = target;
  auto compile = MakeRequest(kernel, KernelFlags());
  if (!compile.ok()) return compile.status();
  v1::Candidate* candidate = request->add_candidates();
  candidate->set_name(kernel.name);
  *candidate->mutable_compile() = *std::move(compile);
  return SetGrid(entry, candidate->mutable_grid());
}

}  // namespace

absl::StatusOr<v1::AutotuneRequest> ReadAutotuneSpec(const std::string& path) {
  const auto fail = [&](absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why)); };
  auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  nlohmann::json spec = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!spec.is_object()) return fail("expected a JSON object");
  const nlohmann::json candidates = spec.value("candidates", nlohmann::json::array());
  spec.erase("candidates");

  v1::AutotuneRequest request;
  const auto parsed = google::protobuf::util::JsonStringToMessage(spec.dump(), &request);
  if (!parsed.ok()) return fail(std::string(parsed.message()));
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
