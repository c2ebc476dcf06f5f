// SPDX-License-Identifier: Apache-2.0
// triton-worker-faulty: the real worker with the real compiler, which fails on request.
#include <cstdlib>

#include "compiler/driver/compile.h"
#include "tests/support/inject_fault.h"
#include "workers/runner/command_line.h"
#include "workers/runner/find_tools.h"

int main(int argc, char** argv) {
  auto make_compiler = [] {
    return tritond::compiler::Compiler::Create(tritond::workers::FindTools(
        tritond::workers::ThisExecutable(), {std::getenv("CUDA_HOME"), std::getenv("PATH")}));
  };
  return tritond::workers::WorkerMain(argc, argv,
                                      {make_compiler, tritond::tests::InjectFault, tritond::tests::FaultReach()});
}
