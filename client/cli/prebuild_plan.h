// SPDX-License-Identifier: Apache-2.0
// What prebuild compiles, for which targets, and where the results go.
#ifndef CLIENT_CLI_PREBUILD_PLAN_H_
#define CLIENT_CLI_PREBUILD_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/kernel_request.h"

namespace tritond::client {

// One kernel for one target.
struct PrebuildJob {
  size_t kernel = 0;  // its index
  std::string target;
  std::string stem;  // of its files: "out/reduce/softmax" for softmax.cubin and softmax.json
};

// Every kernel for each of `targets`, which are distinct, in the order of the kernels. A kernel that names its target
// is compiled for that one alone. With several targets the files of each lie in a folder of its own, "cuda-90" for
// cuda:90.
//
// InvalidArgument when targets would share a folder, or when files would go into a folder that kernels come from: they
// could overwrite the kernels' options.
absl::StatusOr<std::vector<PrebuildJob>> PlanPrebuild(const std::vector<Kernel>& kernels,
                                                      const std::vector<std::string>& targets,
                                                      const std::string& out_dir);

}  // namespace tritond::client

#endif  // CLIENT_CLI_PREBUILD_PLAN_H_
