// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_FIND_TOOLS_H_
#define WORKERS_RUNNER_FIND_TOOLS_H_

#include <string>

#include "compiler/driver/compile.h"

namespace tritond::workers {

// The variables of the environment that say where tools are; null where they are not set.
struct ToolVariables {
  const char* cuda_home = nullptr;  // CUDA_HOME: a toolkit
  const char* path = nullptr;       // PATH
};

// Where a worker's compiler looks for assemblers and device libraries. These are CUDA_HOME, the folder `cuda` beside
// the folder of the program `executable` (its path), and the folders of PATH. The folder `cuda` is where ./dev puts a
// fetched toolkit.
compiler::CompilerConfig FindTools(const std::string& executable, const ToolVariables& variables);

// The path of this process's program; empty where the system does not tell.
std::string ThisExecutable();

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_FIND_TOOLS_H_
