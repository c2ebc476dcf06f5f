// SPDX-License-Identifier: Apache-2.0
// triton-worker: the compiler behind a tritond daemon.
#include "compiler/driver/compile.h"
#include "workers/runner/command_line.h"

int main(int argc, char** argv) {
  return tritond::workers::WorkerMain(argc, argv, tritond::compiler::Compiler::Create, nullptr);
}
