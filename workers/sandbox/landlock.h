// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_SANDBOX_LANDLOCK_H_
#define WORKERS_SANDBOX_LANDLOCK_H_

#include "absl/status/statusor.h"
#include "workers/sandbox/reach.h"

namespace tritond::workers {

// Confines the calling thread and all that it starts from now on to `reach`, with Linux's Landlock. It opens,
// makes, renames and removes no file of another path, and uses no other TCP port. Where the kernel's Landlock knows it,
// no process outside gets a signal, and no abstract socket outside is reached. Needs no privileges but no_new_privs.
// What Landlock leaves open (modes, owners, times of files; what is open already) is the system call filter's.
// Returns the version of Landlock in force. Unavailable: the kernel has none, or does not permit it. Internal: it has,
// and refused a rule.
absl::StatusOr<int> EnterLandlock(const Reach& reach);

// Whether that version keeps signals from processes outside.
inline bool ScopesSignals(int landlock_version) { return landlock_version >= 6; }

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_LANDLOCK_H_
