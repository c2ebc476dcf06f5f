// SPDX-License-Identifier: Apache-2.0
#include "client/cli/compile_options.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"

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
                                        "target"};

}  // namespace

absl::StatusOr<nlohmann::json> ParseOptionsFile(const std::string& text) {
  nlohmann::json file = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return absl::InvalidArgumentError("not valid JSON");
  if (!file.is_object()) return absl::InvalidArgumentError("expected a JSON object of options");
  nlohmann::json options = file.contains("options") && file["options"].is_object() ? file["options"] : file;
  for (const char* name : kOutputNames) options.erase(name);
  return options;
}

absl::Status SetOption(const std::string& assignment, nlohmann::json* options) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--option \"", assignment, "\": expected NAME=VALUE"));
  }
  const std::string value = assignment.substr(equals + 1);
  nlohmann::json parsed = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
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
