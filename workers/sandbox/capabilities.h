// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_SANDBOX_CAPABILITIES_H_
#define WORKERS_SANDBOX_CAPABILITIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tritond::workers {

// Gives up what sets root apart, for this thread and all that it starts; with no_new_privs it does not come back. It
// may be that one of `programs` cannot be found then (it lies in another user's folder). The process then keeps the
// right to look into folders and files of others. What it may open, Landlock says. Internal when the system refuses.
absl::Status DropCapabilities(const std::vector<std::string>& programs);

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_CAPABILITIES_H_
