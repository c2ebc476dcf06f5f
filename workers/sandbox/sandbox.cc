// SPDX-License-Identifier: Apache-2.0
#include "workers/sandbox/sandbox.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "workers/sandbox/capabilities.h"
#include "workers/sandbox/landlock.h"
#include "workers/sandbox/namespaces.h"
#include "workers/sandbox/system_calls.h"

namespace tritond::workers {
namespace {

// What is said of one thread does not hold for those that run already, nor for processes.
absl::Status CheckAlone() {
  siginfo_t ended{};
  if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0)
    return absl::InternalError("the process has started others already");
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  const auto count = std::distance(begin(tasks), end(tasks));
  if (error || count <= 1) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the process has ", count, " threads already"));
}

// What keeps files out of reach, and whether signals too.
struct Means {
  std::string name;
  bool scopes_signals = false;
};

absl::StatusOr<Means> ConfineFiles(const SandboxPolicy& policy, const Reach& reach) {
  if (policy.landlock) {
    absl::StatusOr<int> version = EnterLandlock(reach);
    if (version.ok()) return Means{absl::StrCat("landlock ", *version), ScopesSignals(*version)};
    if (!absl::IsUnavailable(version.status())) return version.status();
  }
  if (policy.namespaces) {
    absl::Status entered = EnterNamespaces(reach);
    if (entered.ok()) return Means{"namespaces", false};
    if (!absl::IsUnavailable(entered)) return entered;
  }
  return Means{};
}

}  // namespace

void CloseInheritedFiles() {
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
}

absl::StatusOr<std::string> EnterSandbox(const SandboxPolicy& policy) {
  absl::StatusOr<Reach> reach = ReachOfPrograms(policy.programs);
  if (!reach.ok()) return reach.status();
  Extend(ReachOfItself(), &*reach);
  Extend(policy.reach, &*reach);
  const bool confines = policy.landlock || policy.namespaces;
  if (absl::Status alone = confines ? CheckAlone() : absl::OkStatus(); !alone.ok()) return alone;
  absl::StatusOr<Means> means = ConfineFiles(policy, *reach);
  if (!means.ok()) return means.status();
  if (absl::Status dropped = DropCapabilities(policy.programs); !dropped.ok()) return dropped;
  // Its memory in /proc is not for other workers of its user, nor theirs for it.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return absl::InternalError("cannot keep its memory to itself");
  SystemCallPolicy calls;
  calls.may_signal = means->scopes_signals;
  calls.may_run_programs = !policy.programs.empty();
  calls.may_change_folders = !means->name.empty() && !policy.reach.folders.empty();
  if (absl::Status filtered = AllowOnlyWorkersCalls(calls); !filtered.ok()) return filtered;
  return means->name;
}

}  // namespace tritond::workers
