// SPDX-License-Identifier: Apache-2.0
// triton-worker-fake: the real worker around a fake compiler, so that tests of the service need no LLVM. Its build id
// is the name that it is called by.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/fake_compiler.h"
#include "tests/support/inject_fault.h"
#include "tests/support/sanitizer.h"
#include "workers/runner/command_line.h"

#ifdef __SANITIZE_ADDRESS__
// AddressSanitizer asks. Its search for leaks is a debugger's work, which the sandbox of a worker forbids.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

int main(int argc, char** argv) {
  const std::string path = argv[0];
  const std::string build_id = "fake-build " + path.substr(path.rfind('/') + 1);
  std::vector<char*> words(argv, argv + argc);
  std::string limit = "--memory-limit-mb", none = "0";
  if (tritond::tests::kSanitized) {  // Whoever began it, and with whatever limit.
    auto given = std::find(words.begin(), words.end(), limit);
    if (given != words.end()) words.erase(given, given + 2);
    words.insert(words.end(), {limit.data(), none.data()});
  }
  tritond::workers::WorkerProgram program{[&] { return std::make_unique<tritond::tests::FakeCompiler>(build_id); },
                                          tritond::tests::InjectFault, tritond::tests::FaultReach()};
  // A sanitizer has threads and opens files of its own.
  if (tritond::tests::kSanitized) program.sandbox.landlock = program.sandbox.namespaces = false;
  return tritond::workers::WorkerMain(static_cast<int>(words.size()), words.data(), program);
}
