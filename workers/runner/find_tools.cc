// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/find_tools.h"

#include <filesystem>

#include "absl/strings/str_split.h"

namespace tritond::workers {

compiler::CompilerConfig FindTools(const std::string& executable, const char* path) {
  compiler::CompilerConfig config;
  std::filesystem::path beside = std::filesystem::path(executable).parent_path().parent_path() / "cuda";
  if (!executable.empty()) config.tool_roots.push_back(beside.string());
  if (path != nullptr) config.path_dirs = absl::StrSplit(path, ':', absl::SkipEmpty());
  return config;
}

std::string ThisExecutable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

}  // namespace tritond::workers
