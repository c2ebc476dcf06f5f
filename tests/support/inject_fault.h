// SPDX-License-Identifier: Apache-2.0
// Faults on request, for workers that exist only in tests. A compile option asks for them:
//   fault: "abort" | "loop" | "exit" | "eat_memory"   the process does so when the last stage begins
//   fault: "socket" | "many_files"                    the process ends when it may open one, or a thousand
//   leak_mb: NUMBER                                   the first stage takes as much and never gives it back
//   wait_for_file: PATH                               the first stage begins when the file is there
//   first_sticks: PATH                                the first stage never ends where the file is missing, but makes
//   it sleep_ms: NUMBER                                  the first stage takes this long, without work
#ifndef TESTS_SUPPORT_INJECT_FAULT_H_
#define TESTS_SUPPORT_INJECT_FAULT_H_

#include "compiler/driver/compile.h"
#include "workers/sandbox/sandbox.h"

namespace tritond::tests {

// What the faults reach: the folder of temporary files.
workers::SandboxPolicy FaultReach();

void InjectFault(compiler::Stage stage, const compiler::CompileRequest& request);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_INJECT_FAULT_H_
