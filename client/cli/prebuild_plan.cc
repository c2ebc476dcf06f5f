// SPDX-License-Identifier: Apache-2.0
#include "client/cli/prebuild_plan.h"

#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

// Nothing that stands in a target leads out of the output folder.
std::string TargetFolder(std::string target) {
  for (char& c : target) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.') c = '-';
  }
  return target == "." || target == ".." ? "" : target;
}

// The folder of each target below `out_dir`; "" of the only one.
absl::StatusOr<std::map<std::string, std::string>> TargetFolders(const std::vector<PrebuildJob>& jobs, bool several) {
  std::map<std::string, std::string> folders, owners;
  for (const PrebuildJob& job : jobs) {
    if (!folders.emplace(job.target, several ? TargetFolder(job.target) : "").second || !several) continue;
    const std::string& folder = folders[job.target];
    if (folder.empty()) return absl::InvalidArgumentError(absl::StrCat("--target \"", job.target, "\": no target"));
    const auto [owner, fresh] = owners.emplace(folder, job.target);
    if (fresh) continue;
    return absl::InvalidArgumentError(absl::StrCat("--target ", owner->second, " and ", job.target,
                                                   ": both would be written into the folder ", folder));
  }
  return folders;
}

// Of the file, with links to folders resolved, also where it is not there yet. The file itself may be a link: its
// options lie beside the link.
fs::path FolderOf(const std::string& file) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(file, ignored).parent_path(), ignored);
}

}  // namespace

absl::StatusOr<std::vector<PrebuildJob>> PlanPrebuild(const std::vector<Kernel>& kernels,
                                                      const std::vector<std::string>& targets,
                                                      const std::string& out_dir) {
  std::vector<PrebuildJob> jobs;
  std::set<fs::path> inputs;
  for (size_t i = 0; i < kernels.size(); ++i) {
    inputs.insert(FolderOf(kernels[i].path));
    std::vector<std::string> wanted = targets;
    if (wanted.empty()) wanted = {kernels[i].made_for};
    if (!kernels[i].target.empty()) wanted = {kernels[i].target};
    for (const std::string& target : wanted) jobs.push_back({i, target, ""});
  }
  auto folders = TargetFolders(jobs, targets.size() > 1);
  if (!folders.ok()) return folders.status();
  for (PrebuildJob& job : jobs) {
    job.stem = (fs::path(out_dir) / (*folders)[job.target] / kernels[job.kernel].name).string();
    if (inputs.count(FolderOf(job.stem)) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--out-dir ", out_dir, ": must not lead into a folder of the kernels: their JSON files would be lost"));
  }
  return jobs;
}

}  // namespace tritond::client
