// SPDX-License-Identifier: Apache-2.0
#include "client/cli/kernel_list.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/compile_options.h"
#include "client/cli/parse_json.h"
#include "client/cli/session.h"
#include "client/cli/stage_names.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

absl::Status LoadOptions(const fs::path& path, Kernel* kernel) {
  auto text = ReadFile(path.string());
  if (!text.ok()) return text.status();
  kernel->made_for = MetadataTarget(*text);
  auto options = ParseOptionsFile(*text);
  if (!options.ok()) return absl::InvalidArgumentError(absl::StrCat(path.string(), ": ", options.status().message()));
  kernel->options = *std::move(options);
  return absl::OkStatus();
}

absl::Status LoadOptionsBeside(Kernel* kernel) {
  const fs::path path = fs::path(kernel->path).replace_extension(".json");
  std::error_code ignored;
  return fs::exists(path, ignored) ? LoadOptions(path, kernel) : absl::OkStatus();
}

// Triton keeps the TTGIR of each kernel beside its TTIR; kernels that begin as TTGIR have no TTIR.
bool IsKernel(const fs::path& file) {
  std::error_code ignored;
  if (file.extension() == ".ttgir") return !fs::exists(fs::path(file).replace_extension(".ttir"), ignored);
  return file.extension() == ".ttir";
}

absl::StatusOr<std::vector<Kernel>> ListFolder(const std::string& path, const std::string& skip) {
  std::vector<Kernel> kernels;
  const size_t prefix = (fs::path(path) / "").string().size();
  std::string last = path;
  std::error_code error, ignored;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    last = at->path().string();
    if (at->is_directory(ignored)) {
      if (fs::equivalent(last, skip, ignored)) at.disable_recursion_pending();
      continue;
    }
    if (!IsKernel(last)) continue;
    Kernel kernel;
    kernel.path = last;
    kernel.name = fs::path(last.substr(prefix)).replace_extension().string();
    if (absl::Status status = LoadOptionsBeside(&kernel); !status.ok()) return status;
    kernels.push_back(std::move(kernel));
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat(last, ": ", error.message()));
  if (kernels.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no *.ttir in this folder or below it"));
  std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  return kernels;
}

// What of `value` is wrong for a line's field `name`; empty: nothing.
std::string WrongField(const std::string& name, const nlohmann::json& value) {
  if (name == "options") return "";
  if (name == "file" || name == "name" || name == "target") return value.is_string() ? "" : "is not a string";
  if (name == "launch_abi")
    return value == "none" || value == "global" || value == "both" ? "" : "is none of none, global and both";
  if (name == "debug_info" || name == "host_tensor_maps") return value.is_boolean() ? "" : "is neither true nor false";
  if (name == "descriptor_flags") {
    const bool fits = value.is_number_integer() && value >= 0 && value <= 2;
    return fits ? "" : "is not a number from 0 to 2";
  }
  if (name != "emit")
    return "is none of file, name, target, options, emit, launch_abi, descriptor_flags, host_tensor_maps and "
           "debug_info";
  const bool stages =
      value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), [](const auto& word) {
        return word.is_string() && ParseStage(word.template get<std::string>()).ok();
      });
  return stages ? "" : "is not a list of stages";
}

// The part of a line that says what the kernel's launcher passes and reads.
void ReadLauncher(const nlohmann::json& entry, Kernel* kernel) {
  if (entry.contains("emit")) kernel->emit = entry["emit"].get<std::vector<std::string>>();
  if (entry.contains("launch_abi")) kernel->launch_abi = entry["launch_abi"].get<std::string>();
  if (entry.contains("descriptor_flags")) kernel->descriptor_flags = entry["descriptor_flags"].get<int>();
  if (entry.contains("host_tensor_maps")) kernel->host_tensor_maps = entry["host_tensor_maps"].get<bool>();
  if (entry.contains("debug_info")) kernel->debug_info = entry["debug_info"].get<bool>();
}

// One line of a manifest.
absl::StatusOr<Kernel> ParseEntry(absl::string_view line, const fs::path& folder) {
  const auto entry = ParseJson(line);
  if (!entry.is_object()) return absl::InvalidArgumentError("expected a JSON object with \"file\"");
  for (const auto& [name, value] : entry.items()) {
    if (const std::string wrong = WrongField(name, value); !wrong.empty())
      return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" ", wrong));
  }
  const auto text = [&](const char* name) {
    return entry.contains(name) && entry[name].is_string() ? entry[name].get<std::string>() : std::string();
  };
  if (text("file").empty()) return absl::InvalidArgumentError("expected a JSON object with \"file\"");
  Kernel kernel;
  kernel.path = (folder / text("file")).string();
  kernel.name = text("name").empty() ? KernelName(kernel.path) : text("name");
  kernel.target = text("target");
  ReadLauncher(entry, &kernel);
  if (kernel.name.find('/') != std::string::npos)
    return absl::InvalidArgumentError("\"name\" must not contain a slash");
  if (std::any_of(kernel.name.begin(), kernel.name.end(), absl::ascii_iscntrl))
    return absl::InvalidArgumentError("\"name\" must not contain control characters");
  absl::Status status = absl::OkStatus();
  if (!entry.contains("options")) {
    status = LoadOptionsBeside(&kernel);
  } else if (!text("options").empty()) {
    status = LoadOptions(folder / text("options"), &kernel);
  } else {
    auto options = ParseOptionsFile(entry["options"].dump());
    if (!options.ok()) return options.status();
    kernel.options = *std::move(options);
  }
  if (!status.ok()) return status;
  return kernel;
}

absl::StatusOr<std::vector<Kernel>> ListManifest(const std::string& path) {
  auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  std::vector<Kernel> kernels;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || absl::StartsWith(line, "#")) continue;
    auto kernel = ParseEntry(line, fs::path(path).parent_path());
    if (!kernel.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", kernel.status().message()));
    }
    kernels.push_back(*std::move(kernel));
  }
  if (kernels.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": an empty manifest"));
  return kernels;
}

}  // namespace

absl::StatusOr<std::vector<Kernel>> ListKernels(const std::string& path, const std::string& skip) {
  std::error_code ignored;
  auto kernels = fs::is_directory(path, ignored) ? ListFolder(path, skip) : ListManifest(path);
  if (!kernels.ok()) return kernels;
  std::set<std::string> names;
  for (const Kernel& kernel : *kernels) {
    if (!names.insert(kernel.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": two kernels are called ", kernel.name));
    }
  }
  return kernels;
}

}  // namespace tritond::client
