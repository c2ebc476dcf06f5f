// SPDX-License-Identifier: Apache-2.0
#include "workers/sandbox/capabilities.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

struct Sets {
  __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {};
};

absl::Status Set(const Sets& sets) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  if (syscall(SYS_capset, &header, sets.words) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot give up capabilities: ", strerror(errno)));
}

}  // namespace

absl::Status DropCapabilities(const std::vector<std::string>& programs) {
  Sets now;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  if (syscall(SYS_capget, &header, now.words) != 0)
    return absl::InternalError(absl::StrCat("cannot read capabilities: ", strerror(errno)));
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  Sets paused = now;
  for (__user_cap_data_struct& word : paused.words) word.effective = word.inheritable = 0;
  if (absl::Status status = Set(paused); !status.ok()) return status;
  const bool found = std::all_of(programs.begin(), programs.end(), [](const std::string& program) {
    return faccessat(AT_FDCWD, program.c_str(), R_OK | X_OK, AT_EACCESS) == 0;
  });
  Sets kept;
  constexpr uint32_t kSearch = 1U << CAP_DAC_READ_SEARCH;
  if (!found) kept.words[0].permitted = kept.words[0].effective = now.words[0].permitted & kSearch;
  return Set(kept);
}

}  // namespace tritond::workers
