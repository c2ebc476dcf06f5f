// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_COMMAND_LINE_H_
#define WORKERS_RUNNER_COMMAND_LINE_H_

#include <functional>
#include <memory>

#include "compiler/driver/compile.h"
#include "workers/sandbox/sandbox.h"

namespace tritond::workers {

// What one worker program has and another has not.
struct WorkerProgram {
  std::function<std::unique_ptr<compiler::Compiler>()> make_compiler;
  // As in RunnerOptions. May be null.
  std::function<void(compiler::Stage, const compiler::CompileRequest&)> on_stage;
  // What it reaches beside the tools of its compiler, and by which means it is confined; for tests.
  SandboxPolicy sandbox;
};

// The whole of a worker program: parses the command line, limits and confines the process, makes the compiler and
// serves. Without --once a parent process stays behind and starts a new worker whenever one ends. Files of credentials
// are read, names looked up and tools loaded by each worker before it confines itself.
// SIGTERM and SIGINT: the compile in hand is finished and answered, then the worker ends; a second one ends it at once.
// Returns the exit status: 0 drained or asked to stop, 1 connection lost, 2 usage, or it cannot be
// limited as it should.
int WorkerMain(int argc, char** argv, const WorkerProgram& program);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_COMMAND_LINE_H_
