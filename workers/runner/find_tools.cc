// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/find_tools.h"

#include <filesystem>

#include "absl/strings/str_split.h"

namespace tritond::workers {

compiler::CompilerConfig FindTools(const std::string& executable, const ToolVariables& variables) {
  compiler::CompilerConfig config;
  if (variables.cuda_home != nullptr && *variables.cuda_home != 0) config.tool_roots.push_back(variables.cuda_home);
  std::filesystem::path beside = std::filesystem::path(executable).parent_path().parent_path() / "cuda";
  if (!executable.empty()) config.tool_roots.push_back(beside.string());
  if (variables.path != nullptr) config.path_dirs = absl::StrSplit(variables.path, ':', absl::SkipEmpty());
  return config;
}

std::string ThisExecutable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

}  // namespace tritond::workers
