// SPDX-License-Identifier: Apache-2.0
#include "client/cli/compile_options.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/parse_json.h"

namespace tritond::client {
namespace {

constexpr const char* kOutputNames[] = {"hash",
                                        "name",
                                        "shared",
                                        "tmem_size",
                                        "triton_version",
                                        "global_scratch_size",
                                        "global_scratch_align",
                                        "profile_scratch_size",
                                        "profile_scratch_align",
                                        "tensordesc_meta",
                                        "parameter_bytes",
                                        "resources",
                                        "target"};

// Of Triton's metadata: they acted before the IR was made, or name files of the machine that made it.
constexpr const char* kFrontEndNames[] = {
    "allow_fp8e4b15",        "allow_fp8e4nv",       "allowed_dot_input_precisions", "arch",
    "backend_name",          "cluster_dims",        "default_dot_input_precision",  "deprecated_fp8_dot_operand_dtypes",
    "deprecated_fp8_dtypes", "extern_libs",         "instrumentation_mode",         "ir_override",
    "sanitize_overflow",     "supported_fp8_dtypes"};

std::string TargetOf(const nlohmann::json& file) {
  if (!file.is_object() || !file.contains("target") || !file["target"].is_object()) return "";
  const nlohmann::json& target = file["target"];
  if (!target.contains("backend") || !target["backend"].is_string() || !target.contains("arch")) return "";
  const nlohmann::json& arch = target["arch"];
  if (!arch.is_string() && !arch.is_number_integer()) return "";
  if (arch == 0) return target["backend"].get<std::string>();  // host
  return absl::StrCat(target["backend"].get<std::string>(), ":",
                      arch.is_string() ? arch.get<std::string>() : arch.dump());
}

// Variables of the environment stand among the options in Triton's metadata, in capitals.
bool IsVariable(const std::string& name) { return std::none_of(name.begin(), name.end(), absl::ascii_islower); }

void KeepCompilersOptions(nlohmann::json* options) {
  for (const char* name : kFrontEndNames) options->erase(name);
  for (auto entry = options->begin(); entry != options->end();) {
    entry = entry->is_null() || IsVariable(entry.key()) ? options->erase(entry) : std::next(entry);
  }
}

}  // namespace

std::string MetadataTarget(const std::string& text) { return TargetOf(ParseJson(text)); }

absl::StatusOr<nlohmann::json> ParseOptionsFile(const std::string& text) {
  nlohmann::json file = ParseJson(text);
  if (file.is_discarded()) return absl::InvalidArgumentError("not valid JSON, or nested too deep");
  if (!file.is_object()) return absl::InvalidArgumentError("expected a JSON object of options");
  nlohmann::json options = file.contains("options") && file["options"].is_object() ? file["options"] : file;
  for (const char* name : kOutputNames) options.erase(name);
  if (!TargetOf(file).empty()) KeepCompilersOptions(&options);
  return options;
}

absl::Status SetOption(const std::string& assignment, nlohmann::json* options) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--option \"", assignment, "\": expected NAME=VALUE"));
  }
  const std::string value = assignment.substr(equals + 1);
  nlohmann::json parsed = ParseJson(value);
  (*options)[assignment.substr(0, equals)] = parsed.is_discarded() ? nlohmann::json(value) : parsed;
  return absl::OkStatus();
}

absl::StatusOr<google::protobuf::Struct> ToStruct(const nlohmann::json& options) {
  google::protobuf::Struct message;
  const std::string text = options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message);
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("options: ", std::string(status.message())));
  return message;
}

}  // namespace tritond::client
