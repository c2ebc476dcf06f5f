// SPDX-License-Identifier: Apache-2.0
// triton-worker: the compiler behind a tritond daemon.
#include <cstdlib>
#include <cstring>

#include "compiler/driver/compile.h"
#include "workers/measure/kernel_process.h"
#include "workers/runner/command_line.h"
#include "workers/runner/find_tools.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], tritond::workers::kKernelProcessFlag) == 0)
    return tritond::workers::RunKernelProcess(absl::MakeSpan(argv + 2, argc - 2));
  auto make_compiler = [] {
    return tritond::compiler::Compiler::Create(tritond::workers::FindTools(
        tritond::workers::ThisExecutable(), {std::getenv("CUDA_HOME"), std::getenv("PATH")}));
  };
  return tritond::workers::WorkerMain(argc, argv, {make_compiler, nullptr, {}});
}
