// SPDX-License-Identifier: Apache-2.0
// triton-worker-faulty: the real worker with the real compiler, which fails on request.
#include "compiler/driver/compile.h"
#include "tests/support/inject_fault.h"
#include "workers/runner/command_line.h"

int main(int argc, char** argv) {
  return tritond::workers::WorkerMain(argc, argv, tritond::compiler::Compiler::Create, tritond::tests::InjectFault);
}
