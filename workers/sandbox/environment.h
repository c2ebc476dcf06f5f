// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_SANDBOX_ENVIRONMENT_H_
#define WORKERS_SANDBOX_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace tritond::workers {

// What a worker takes from the environment of whoever starts it: where its tools and libraries are, how it dials, how
// it writes. Whatever else is there (passwords, tokens of other services) is none of its business.
bool IsForWorkers(const std::string& name);

// The entries "NAME=VALUE" of this process's environment that are for workers.
std::vector<std::string> EnvironmentForWorkers();

// Removes all other entries, and wipes their bytes where the kernel put them, so that neither this process's memory nor
// /proc/self/environ has them. Before any thread starts.
void ScrubEnvironment();

}  // namespace tritond::workers

#endif  // WORKERS_SANDBOX_ENVIRONMENT_H_
