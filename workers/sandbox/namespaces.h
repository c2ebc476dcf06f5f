// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_SANDBOX_NAMESPACES_H_
#define WORKERS_SANDBOX_NAMESPACES_H_

#include "absl/status/status.h"
#include "workers/sandbox/reach.h"

namespace tritond::workers {

// For kernels without Landlock: gives the process a user and a mount namespace of its own. Its file system then holds
// `reach`, read-only but for what may be written, and /proc, read-only. It holds nothing else. Whatever was open stays
// open. The process keeps its user, and in its namespace all capabilities until DropCapabilities. Processes outside
// cannot be traced, nor their memory or folders be reached through /proc. The process has one thread. Unavailable, with
// nothing changed, where the system does not permit it; Internal when it stopped half way: then the process must not go
// on.
absl::Status EnterNamespaces(const Reach& reach);

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_NAMESPACES_H_
